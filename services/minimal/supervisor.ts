/** Supervises the minimal edition: starts everything in order, monitors it, and stops it in reverse order. */
import { chmodSync, mkdirSync } from 'node:fs';
import { join, relative } from 'node:path';
import { openLogFile } from '#infra/system/log-file.ts';
import { unknownVariables, type Environment } from '#services/shared/config.ts';
import { localAddress } from '#services/shared/local-address.ts';
import { preparePrograms, type Program } from './programs/compiled.ts';
import { readMinimalConfig, unusedSettings, type Config } from './config.ts';
import { startDatabase, type Database } from './database.ts';
import { serviceEnvironment } from './environment.ts';
import type { HealthPolicy } from './health.ts';
import { holdFolder } from '#services/shared/hold.ts';
import { untilLeftoversEnd } from './leftovers.ts';
import { createOnDemand } from './on-demand.ts';
import { platformProblem } from './platform.ts';
import { moveTakenPorts, takenPorts } from './ports.ts';
import { createRelay } from './relay.ts';
import { onRestoreRequested, restoreIfRequested, type RestoreDeps } from './restores.ts';
import { prepareSecrets, type Secrets } from './secrets.ts';
import { createService, type Service } from './service.ts';
import { healthEndpoints, type ServiceDefinition } from './services.ts';

/**
 * How long a service may take to stop. Runs have a grace period of 10 s, and the runtime then needs time to record
 * their outcomes.
 */
const STOP_PATIENCE_MS = 25_000;

export interface SupervisorOptions {
  readonly services: readonly ServiceDefinition[];
  /** Programs to merge into a few files. Default: none. */
  readonly merged?: readonly Program[];
  readonly environment: Environment;
  /** Prints a line for the user. */
  readonly say: (line: string) => void;
  /** How long a service may be unresponsive before it is killed and restarted. */
  readonly healthPolicy?: HealthPolicy;
  /** Called with a message when a running service or the database has exited on its own. */
  readonly onEnd?: (what: string) => void;
}

export interface Supervisor {
  /** Stops everything, the database last. Idempotent. */
  stop(): Promise<void>;
  /** Kills the services, so that `stop` does not wait for runs. */
  hurry(): void;
}

/** Thrown if the service cannot start. The message explains the reason to the user in one or more lines. */
export class StartRefused extends Error {}

/** Starts everything, and waits until all services are healthy. A failed start leaves no process running.
 *  @param signal aborts the start
 *  @throws StartRefused, ConfigError or another Error with a message for the user */
export async function startSupervisor(
  options: SupervisorOptions,
  signal: AbortSignal,
): Promise<Supervisor> {
  const startedMs = performance.now();
  const { environment, say } = options;
  const problem = platformProblem(process.platform, process.arch);
  if (problem !== undefined) throw new StartRefused(problem);
  for (const line of [...unknownVariables(environment), ...unusedSettings(environment)]) say(line);
  const wanted = readMinimalConfig(environment);
  makeFolders(wanted.dataDir);
  holdFolder(wanted.dataDir);
  await untilLeftoversEnd(wanted.dataDir, { timeoutMs: STOP_PATIENCE_MS, say });
  const config = await moveTakenPorts(options.services, wanted, say);
  const taken = await takenPorts(options.services, config);
  if (taken.length > 0) throw new StartRefused(taken.join('\n'));
  const running = createRunning(config.drainSeconds * 1000);
  try {
    const secrets = await startAll(options, config, running, signal);
    announce(options, config, secrets, performance.now() - startedMs);
    if (secrets.isFirstStart) secrets.firstStartDone();
    return running;
  } catch (error) {
    await running.stop();
    throw error;
  }
}

function makeFolders(dataDir: string): void {
  mkdirSync(dataDir, { recursive: true, mode: 0o711 });
  // If root starts the service, the database and the scripts run as other users, whose folders are inside the data
  // folder.
  chmodSync(dataDir, process.getuid?.() === 0 ? 0o711 : 0o700);
  mkdirSync(join(dataDir, 'logs'), { recursive: true, mode: 0o700 });
}

async function startAll(
  options: SupervisorOptions,
  config: Config,
  running: Running,
  signal: AbortSignal,
): Promise<Secrets> {
  const { environment, say } = options;
  const prepared = prepareSecrets(join(config.dataDir, 'secrets'), environment);
  const [database, programs] = await Promise.all([
    startDatabase(config.dataDir, say, options.onEnd),
    preparePrograms(config.dataDir, options.services, options.merged ?? [], say),
  ]);
  running.database = database;
  signal.throwIfAborted();
  const secrets = prepared.withSecret('ORCH_DATABASE_URL', running.database.serviceUrl);
  const restoring = restoreDeps(options, config, secrets);
  await restoreIfRequested(restoring, AbortSignal.any([signal, running.stopping.signal]));
  signal.throwIfAborted();
  const startServices = async (): Promise<void> => {
    running.services = options.services.map((definition) => {
      const own = serviceEnvironment(definition, config, secrets, environment);
      const entry = programs.get(definition.entry) ?? definition.entry;
      return makeService({ ...definition, entry }, config, own, options);
    });
    await Promise.all(running.services.map((service) => service.start(signal)));
  };
  await startServices();
  running.restores = keepRestoring(running, restoring, startServices);
  return secrets;
}

/** Returns the dependencies of the restore program. */
function restoreDeps(
  { environment, say }: SupervisorOptions,
  config: Config,
  secrets: Secrets,
): RestoreDeps {
  const program = {
    secrets: [
      'ORCH_BACKUP_KEY',
      'ORCH_S3_SECRET_ACCESS_KEY',
      'SECRET_MASTER_KEY',
      'SECRET_MASTER_KEY_OTHER',
    ],
    ports: [],
  };
  return {
    dataDir: config.dataDir,
    environment: serviceEnvironment(program, config, secrets, environment),
    host: config.bind,
    port: config.httpPort,
    say,
  };
}

/** Performs restores as they are requested. Stops the services before each restore, and starts them afterwards. */
async function keepRestoring(
  running: Running,
  deps: RestoreDeps,
  startServices: () => Promise<void>,
): Promise<void> {
  const { signal } = running.stopping;
  while (!signal.aborted) {
    await new Promise<void>((resolve) => {
      const leave = onRestoreRequested(deps.dataDir, resolve);
      signal.addEventListener('abort', () => {
        leave();
        resolve();
      });
    });
    if (signal.aborted) return;
    deps.say('A restore was requested; stopping the services');
    await stopServices(running);
    await restoreIfRequested(deps, signal);
    if (signal.aborted) return;
    try {
      await startServices();
      deps.say('The services are running again');
    } catch (error) {
      if (signal.aborted) return;
      deps.say(`The services failed to start: ${(error as Error).message}`);
    }
  }
}

/** Stops the services. If runs may continue during a shutdown, first waits for them to finish. */
async function stopServices(running: Running): Promise<void> {
  const { services, drainMs } = running;
  const runtime = services.find(({ name }) => name === 'runtime');
  if (drainMs > 0) await runtime?.stop(drainMs + STOP_PATIENCE_MS);
  await Promise.all(services.map((service) => service.stop(STOP_PATIENCE_MS)));
}

function makeService(
  definition: ServiceDefinition,
  config: Config,
  environment: Record<string, string>,
  { say, healthPolicy, onEnd }: SupervisorOptions,
): Service {
  const { name, entry, maxHeapMb, youngHeapMb, ports, onDemand = false } = definition;
  const log = openLogFile(join(config.dataDir, 'logs', `${name}.log`));
  const service = createService({
    name,
    args: [`--max-old-space-size=${maxHeapMb}`, `--max-semi-space-size=${youngHeapMb}`, entry],
    environment,
    capabilities: definition.capabilities,
    healthUrls: healthEndpoints(definition, config).map(({ url }) => url),
    onDemand,
    relay: createRelay(name, log, say),
    healthPolicy,
    say,
    // An on-demand service exits when it is idle, so its exit is not a failure.
    onEnd: onDemand ? undefined : onEnd,
  });
  if (!onDemand) return service;
  return createOnDemand({
    service,
    host: config.bind,
    ports: ports.map((port) => config[port]),
    say,
  });
}

interface Running extends Supervisor {
  database: Database | undefined;
  services: readonly Service[];
  /** Watches for restore requests until `stopping` aborts. */
  restores: Promise<void>;
  /** How long runs may continue during a shutdown. */
  readonly drainMs: number;
  readonly stopping: AbortController;
}

function createRunning(drainMs: number): Running {
  let stopped: Promise<void> | undefined;
  const stopAll = async (running: Running): Promise<void> => {
    running.stopping.abort();
    await running.restores;
    await stopServices(running);
    await running.database?.stop();
  };
  return {
    database: undefined,
    services: [],
    restores: Promise.resolve(),
    drainMs,
    stopping: new AbortController(),
    stop() {
      return (stopped ??= stopAll(this));
    },
    hurry() {
      for (const service of this.services) service.kill();
    },
  };
}

function announce(
  options: SupervisorOptions,
  config: Config,
  secrets: Secrets,
  tookMs: number,
): void {
  const { say, services } = options;
  const width = Math.max(...services.map(({ name }) => name.length)) + 2;
  for (const { name, page, ports, address } of services) {
    const own = `${localAddress(config.bind, config[ports[0]])}${page}`;
    say(`  ${name.padEnd(width)}${address?.(config) ?? own}`);
  }
  const folder = relative(process.cwd(), config.dataDir);
  const shown = folder === '' || folder.startsWith('..') ? config.dataDir : `./${folder}`;
  say(`Ready after ${(tookMs / 1000).toFixed(1)} s. Data and logs are in ${shown}; Ctrl-C stops.`);
  say(`Dashboard: ${localAddress(config.bind, config.httpPort)}/`);
  if (!secrets.isFirstStart) return;
  const password = secrets.generatedPassword ?? 'the password in ORCH_ADMIN_PASSWORD';
  say(`Sign in as ${config.adminEmail} with ${password}`);
  if (secrets.generatedPassword !== undefined) say('(shown only once; change it after signing in)');
}
