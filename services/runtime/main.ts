// Long because it assembles the whole runtime.
/** The runtime claims runs and executes them in the sandbox. */
import { once } from 'node:events';
import { chmod, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { openObjects } from '#services/shared/objects.ts';
import { PostgresEnvironmentLocks } from '#infra/postgres/operations/environment-locks.ts';
import { KnownStreams } from '#infra/postgres/commands/known-streams.ts';
import { getPayload } from '#infra/postgres/event-store/payloads.ts';
import { Targets } from '#infra/outgoing/targets.ts';
import { foldersOf, SecretStores } from '#infra/secret-stores/secret-stores.ts';
import { Vault } from '#infra/secrets/vault.ts';
import { PostgresRunLogs } from '#infra/postgres/logs/run-logs.ts';
import { PostgresRunQueue } from '#infra/postgres/queue/run-queue.ts';
import { removeRuntime, reportRuntime } from '#infra/postgres/queue/runtimes.ts';
import {
  masterKeys,
  objectStoreSettings,
  platformSettings,
  readConfig,
} from '#services/shared/config.ts';
import { databaseProblem } from '#services/shared/database-health.ts';
import { whileClockIsRight } from '#services/shared/database-clock.ts';
import { startHealthServer } from '#services/shared/health-server.ts';
import { runProcess } from '#services/shared/lifecycle.ts';
import type { Logger } from '#services/shared/logger.ts';
import { addClockMetric, addRunEndMetric } from '#services/shared/process-metrics.ts';
import { startLoop } from '#services/shared/loop.ts';
import { openPlatform, type Platform } from '#services/shared/platform.ts';
import { openEnvironments } from './environments/environments.ts';
import { DiskRoom } from './disk-room.ts';
import type { ExecutionDeps } from './execution-deps.ts';
import { Execution } from './execution.ts';
import { Interpreters } from './interpreters.ts';
import { joinAppends } from './logs/joined-appends.ts';
import { LogWriter } from './logs/log-writer.ts';
import { createRunLog } from './logs/run-log.ts';
import { runtimeMetrics, type RunMetrics } from './metrics.ts';
import { hiddenSocketsParent, removeLeftovers } from './own-folders.ts';
import { prepareRun, type PreparationDeps } from './preparation.ts';
import { ReportedErrors } from './reported-errors.ts';
import type { SampleRecorder } from './samples/sample-recorder.ts';
import { startSampling } from './samples/start-sampling.ts';
import { sandboxedBuilds } from './sandboxed-builds.ts';
import { openSdk } from './sdk/open.ts';
import { RunSecrets } from './secrets/run-secrets.ts';
import { startLocalSandbox, type LocalSandbox } from './sandbox/local-sandbox.ts';
import { removePurgedScripts, type PurgedScriptsDeps } from './purged-scripts.ts';
import { ForwardedLogs } from './logs/forwarded-logs.ts';
import { findPython, type Python } from './sandbox/python.ts';
import type { SandboxLayers } from './sandbox/sandbox.ts';
import { Snapshots } from './snapshots.ts';
import { WantedPackages } from './wanted-packages.ts';
import { WarmStarts } from './warm/warm-start.ts';
import { Worker } from './worker.ts';

const stopGraceMs = 10_000;
const pollMs = 1_000;
const maxKeeperBytes = 48 * 1024 * 1024;
const reportMs = 10_000;
const purgePollMs = 10_000;
/**
 * The deadline for stopping. It includes the grace period of active runs, and the time for reporting their outcomes.
 */
const stopDeadlineMs = stopGraceMs + 10_000;
/** How long active runs may continue before they are stopped. Set after the settings have been read. */
let drainMs = 0;

/** Settings that contain the ports of the platform's own processes, which may run on this machine. */
const portSettings = [
  'httpPort',
  'mcpPort',
  'redisPort',
  'redisHealthPort',
  'runtimeHealthPort',
  'runtimeMetricsPort',
  'schedulerHealthPort',
] as const;

const readSettings = () =>
  readConfig([
    ...platformSettings,
    'drainSeconds',
    'secretMasterKey',
    'secretMasterKeyOther',
    'secretFolders',
    'allowPrivateTargets',
    'mqttUrl',
    'bind',
    'dataDir',
    ...objectStoreSettings,
    'workDir',
    'runtimeId',
    'runtimeSlots',
    'runtimeLabels',
    'leaseSeconds',
    'python',
    'sandboxLenient',
    'keepers',
    'residentProcesses',
    'logRuns',
    'queryConnections',
    'querySeconds',
    'queryWaitSeconds',
    'queryLenient',
    ...portSettings,
  ]);
type Config = ReturnType<typeof readSettings>;

void runProcess('runtime', startRuntime, { stopDeadlineMs: () => drainMs + stopDeadlineMs });

async function startRuntime(signal: AbortSignal, logger: Logger) {
  const config = readSettings();
  drainMs = config.drainSeconds * 1000;
  const python = await findPython({ configured: config.python, path: process.env['PATH'] ?? '' });
  const known = new KnownStreams();
  const platform = await openPlatform({
    ...config,
    name: 'runtime',
    connections: 6,
    logger,
    signal,
    known,
  });
  // Discards the cached stream, because another process has written to the stream.
  platform.bus.subscribe('stop', ({ runId }) => known.forget([`run-${runId}`]));
  const projects = join(config.workDir, 'projects');
  await mkdir(projects, { recursive: true });
  await chmod(projects, 0o700);
  await removeLeftovers(projects, logger);
  const sandbox = await startLocalSandbox({
    python: python.executable,
    runsFolder: join(config.workDir, 'runs'),
    lenient: config.sandboxLenient,
    maxKeepers: config.keepers,
    maxResidents: config.residentProcesses,
    maxKeeperBytes,
    onLog: (line) => logger.warn({ line }, 'sandbox message'),
  });
  const metrics = runtimeMetrics(config.runtimeSlots, {
    running: () => worker.running,
    waitingQueries: () => preparing.sdk.waitingQueries,
    abandonedQueries: () => preparing.sdk.abandonedQueries,
  });
  const reportedErrors = new ReportedErrors();
  const preparing: PreparationDeps = await openPreparation(
    config,
    python,
    platform,
    { sandbox, metrics, reportedErrors },
    logger,
  );
  const sampling = startSampling(platform, logger);
  const forwarding = startForwarding(config, platform, logger);
  const room = new DiskRoom({ folder: config.workDir, logger });
  const execution: ExecutionDeps = {
    ...executionDeps(config, platform, sandbox, preparing, sampling.recorder, logger),
    hasRoom: () => room.hasRoom(),
    reportedErrors,
    metrics,
    onLogEnd: (run) => forwarding?.add(run),
  };
  const worker: Worker = new Worker({
    runtimeId: config.runtimeId,
    slots: config.runtimeSlots,
    leaseSeconds: config.leaseSeconds,
    labels: config.runtimeLabels,
    queue: new PostgresRunQueue(platform.database.pool, known),
    newExecution: (run, leaseEndsAtMs) => new Execution(run, leaseEndsAtMs, execution),
    onFree: () => duties.claiming.wake(),
    logger,
  });
  const duties = startDuties(config, platform, worker, room, logger);
  const tidying = startTidying(
    config,
    platform,
    { environments: preparing.environments, sandbox },
    logger,
  );
  const layers = await sandbox.probe();
  warnOfMissingLayers(layers, logger);
  const reporting = startReporting(config, python, platform, layers, worker, logger);
  const servers = await startServers(config, platform, room, metrics);
  return {
    stop: async () => {
      await duties.claiming.stop();
      await worker.drain(drainMs);
      await Promise.all([duties.renewing, reporting, sampling, tidying].map((one) => one.stop()));
      await sandbox.stop();
      await preparing.sdk.close();
      await removeRuntime(platform.database.pool, config.runtimeId);
      await forwarding?.settle();
      await Promise.all(servers.map((server) => server.close()));
      await platform.close();
    },
  };
}

interface OpenDeps {
  readonly sandbox: LocalSandbox;
  readonly metrics: RunMetrics;
  readonly reportedErrors: ReportedErrors;
}

async function openPreparation(
  config: Config,
  python: Python,
  platform: Platform,
  { sandbox, metrics, reportedErrors }: OpenDeps,
  logger: Logger,
): Promise<PreparationDeps> {
  const { pool } = platform.database;
  const { reads, commands, ids } = platform;
  const vault = new Vault(pool, masterKeys(config), ids);
  const folder = (name: string) => join(config.workDir, name);
  const hidden = [config.dataDir, ...foldersOf(config.secretFolders)];
  const leaseMs = config.leaseSeconds * 1000;
  await mkdir(folder('data'), { recursive: true });
  // Script users must be able to pass through this folder to reach their own folders.
  await chmod(folder('data'), 0o711);
  const objects = await openObjects(config, logger);
  const stores = new SecretStores({
    vault,
    targets: new Targets(config.allowPrivateTargets),
    folders: config.secretFolders,
  });
  const secrets = new RunSecrets({ reads, vault, commands, ids, stores });
  return {
    interpreters: new Interpreters(python, process.env),
    snapshots: await Snapshots.open(folder('files'), objects, platform.reads),
    secrets,
    sdk: await openSdk({
      queries: {
        url: config.databaseUrl,
        connections: config.queryConnections,
        timeoutMs: config.querySeconds * 1000,
        maxWaitMs: config.queryWaitSeconds * 1000,
        lenient: config.queryLenient,
        metrics: metrics.queries,
      },
      socketsParent: hiddenSocketsParent(sandbox.layers),
      mqttUrl: config.mqttUrl,
      database: pool,
      reads,
      objects,
      secrets,
      reportedErrors,
      bus: platform.bus,
      commands,
      ids,
      clock: platform.clock,
      tracing: platform.tracing,
      logger,
    }),
    wantedPackages: new WantedPackages(),
    warmStarts: new WarmStarts(),
    environments: await openEnvironments({
      folder: folder('environments'),
      runBuild: sandboxedBuilds({ sandbox, python, hidden, leaseMs }),
      onProblem: (error) => logger.warn({ error }, 'environment could not be cleaned up'),
    }),
    locks: new PostgresEnvironmentLocks(pool),
    payload: (sha256) => getPayload(pool, sha256),
    parameters: async (sha256) => (await getPayload(pool, sha256))?.toString('utf8'),
    dataFolder: folder('data'),
    projectsFolder: folder('projects'),
    hidden,
    platformPorts: portSettings.map((name) => config[name]),
    leaseMs,
    stopGraceMs,
  };
}

function executionDeps(
  config: Config,
  platform: Platform,
  sandbox: LocalSandbox,
  preparing: PreparationDeps,
  sampling: SampleRecorder,
  logger: Logger,
): Omit<ExecutionDeps, 'hasRoom' | 'reportedErrors' | 'metrics' | 'onLogEnd'> {
  const { clock, commands, ids, tracing } = platform;
  // Stores the chunks of several runs with one statement.
  const store = joinAppends(platform.logs);
  return {
    runtimeId: config.runtimeId,
    commands,
    ids,
    clock,
    tracing,
    sandbox,
    prepare: (run, log, signal) => prepareRun(preparing, run, log, signal),
    openLog: ({ runId, scriptName, limits, mergeStderr }, signal) =>
      createRunLog(
        new LogWriter({
          runId,
          limitBytes: limits.log_bytes,
          store,
          clock,
          onRetry: (error, attempt) =>
            logger.warn({ error, attempt, runId, script_name: scriptName }, 'log write is delayed'),
          signal,
        }),
        { errorStream: mergeStderr ? 'stdout' : 'stderr' },
      ),
    openSampling: ({ runId }) => sampling.open(runId),
    logger,
  };
}

function startDuties(
  config: Config,
  platform: Platform,
  worker: Worker,
  room: DiskRoom,
  logger: Logger,
) {
  const claiming = startLoop({
    name: 'claim',
    everyMs: pollMs,
    runOnce: whileClockIsRight(platform.clock, async () =>
      (await room.mayClaim()) ? await worker.claimOnce() : false,
    ),
    logger,
  });
  const renewing = startLoop({
    name: 'renew',
    everyMs: (config.leaseSeconds * 1000) / 3,
    runOnce: () => worker.renewOnce(),
    logger,
  });
  platform.bus.subscribe('queue', () => claiming.wake());
  platform.bus.subscribe('stop', ({ runId }) => worker.end(runId, 'stop'));
  return { claiming, renewing };
}

function warnOfMissingLayers({ layers }: SandboxLayers, logger: Logger): void {
  const missing = layers.filter((layer) => !layer.available);
  if (missing.length === 0) return;
  const byReason = Map.groupBy(missing, ({ detail }) => detail);
  const problems = Array.from(
    byReason,
    ([reason, those]) => `${those.map(({ name }) => name).join(', ')} (${reason})`,
  );
  logger.warn({ problems }, 'some sandbox layers are inactive on this machine');
}

function startTidying(
  config: Config,
  { database, bus }: Platform,
  kept: Pick<PurgedScriptsDeps, 'environments' | 'sandbox'>,
  logger: Logger,
) {
  const folders = ['data', 'files', 'projects'].map((name) => join(config.workDir, name));
  const { runtimeId } = config;
  const loop = startLoop({
    name: 'remove purged scripts',
    everyMs: purgePollMs,
    runOnce: () => removePurgedScripts({ runtimeId, database: database.pool, folders, ...kept }),
    logger,
  });
  bus.subscribe('events', ({ types }) => {
    if (types?.includes('ScriptPurged') === true) loop.wake();
  });
  return loop;
}

function startReporting(
  config: Config,
  python: Python,
  platform: Platform,
  sandbox: SandboxLayers,
  worker: Worker,
  logger: Logger,
) {
  const startedAt = new Date();
  return startLoop({
    name: 'report',
    everyMs: reportMs,
    runOnce: () =>
      reportRuntime(platform.database.pool, {
        runtime_id: config.runtimeId,
        started_at: startedAt,
        slots: config.runtimeSlots,
        running: worker.running,
        layers: sandbox.layers,
        python: python.version,
        labels: config.runtimeLabels,
      }),
    logger,
  });
}

/** Writes run logs to standard output, if configured. */
function startForwarding({ logRuns }: Config, { database }: Platform, logger: Logger) {
  if (!logRuns) return undefined;
  return new ForwardedLogs({
    store: new PostgresRunLogs(database.pool),
    write: async (text) => {
      if (!process.stdout.write(text)) await once(process.stdout, 'drain');
    },
    logger,
  });
}

async function startServers(
  config: Config,
  { bus, clock, database, exportMetrics, runEnds }: Platform,
  room: DiskRoom,
  { registry }: RunMetrics,
) {
  addClockMetric(registry, clock);
  addRunEndMetric(registry, runEnds);
  exportMetrics(registry);
  return [
    await startHealthServer({
      host: config.bind,
      port: config.runtimeHealthPort,
      name: 'runtime',
      problem: async () => clock.problem ?? (await databaseProblem(database.pool)),
      degraded: () => room.problem ?? bus.problem,
    }),
    await startHealthServer({
      host: config.bind,
      port: config.runtimeMetricsPort,
      metrics: registry,
    }),
  ];
}
