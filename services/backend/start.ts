/** Starts the backend: REST, WebSockets, documentation and the dashboard. */
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { HeadSigner } from '#infra/audit/head-signer.ts';
import { Git } from '#infra/git/git.ts';
import { Targets } from '#infra/outgoing/targets.ts';
import { openObjects } from '#services/shared/objects.ts';
import { SecretStores } from '#infra/secret-stores/secret-stores.ts';
import { Vault } from '#infra/secrets/vault.ts';
import { PostgresRunLogs } from '#infra/postgres/logs/run-logs.ts';
import { PostgresRunSamples } from '#infra/postgres/logs/run-samples.ts';
import {
  masterKeys,
  objectStoreSettings,
  platformSettings,
  readConfig,
  settingStates,
  type SettingName,
} from '#services/shared/config.ts';
import {
  httpServerOptions,
  httpServerSettings,
} from '#services/shared/connections/from-settings.ts';
import type { ProcessOptions, Running } from '#services/shared/lifecycle.ts';
import type { Logger } from '#services/shared/logger.ts';
import { passwordCost } from '#services/shared/passwords.ts';
import type { Loop } from '#services/shared/loop.ts';
import { localAddress } from '#services/shared/local-address.ts';
import { openPlatform } from '#services/shared/platform.ts';
import { createBackend } from './app.ts';
import { trustedProxies } from './http/wire/client.ts';
import { startRepositoryPolling } from './repositories/poll.ts';
import { seed } from './system/seed.ts';
import { releasesOf, startUpdater, updateProvider } from './updates/start.ts';

const connections = 16;
const positionTimeoutMs = 5_000;
const stopDeadlineMs = 20_000;
const dashboardDir = fileURLToPath(new URL('../../web/build', import.meta.url));
const sdkDir = fileURLToPath(new URL('../runtime/python/sdk', import.meta.url));

const ownSettings = [
  'bind',
  'httpPort',
  ...platformSettings,
  ...objectStoreSettings,
  'tokenKey',
  'auditKey',
  'secretMasterKey',
  'secretMasterKeyOther',
  'passwordSignIn',
  'secondFactorRoles',
  'adminEmail',
  'adminPassword',
  'examples',
  'edition',
  'trustedProxies',
  ...httpServerSettings,
  'shutdownDelaySeconds',
  'publicUrl',
  'mcpUrl',
  'mcpPort',
  'dataDir',
  'supervised',
  'updateUrl',
  'updateKey',
  'updateKeyOther',
  'allowPrivateTargets',
  'secretFolders',
] as const satisfies readonly SettingName[];

let shutdownDelayMs = 0;

export const backendOptions: ProcessOptions = {
  stopDeadlineMs: () => shutdownDelayMs + stopDeadlineMs,
};

/** Starts the backend.
 *  @param signal aborts the wait for an unavailable database */
export async function startBackend(signal: AbortSignal, logger: Logger): Promise<Running> {
  const config = readConfig(ownSettings);
  const { edition, tokenKey } = config;
  shutdownDelayMs = config.shutdownDelaySeconds * 1000;
  const platform = await openPlatform({ ...config, name: 'backend', connections, logger, signal });
  const { database, reads, ...rest } = platform;
  const vault = new Vault(database.pool, masterKeys(config), platform.ids);
  const unreadable = await vault.rewrap();
  if (unreadable > 0) {
    logger.error(
      { scripts: unreadable },
      'secrets were encrypted with a different SECRET_MASTER_KEY',
    );
  }
  const provider = updateProvider(config, platform.clock);
  const releases = releasesOf(config);
  const updater: { loop?: Loop } = {};
  const repositories: { loop?: Loop } = {};
  const proxies = trustedProxies(config.trustedProxies);
  const objects = await openObjects(config, logger);
  const backend = createBackend({
    ...rest,
    readModels: reads,
    database: database.pool,
    pool: database.pool,
    vault,
    secretStores: new SecretStores({
      vault,
      targets: new Targets(config.allowPrivateTargets),
      folders: config.secretFolders,
    }),
    masterKeys: masterKeys(config),
    auditSigner: new HeadSigner(config.auditKey),
    objects,
    git: new Git(new Targets(config.allowPrivateTargets)),
    wakeRepositories: () => repositories.loop?.wake(),
    runLogs: new PostgresRunLogs(database.pool),
    runSamples: new PostgresRunSamples(database.pool),
    logger,
    edition,
    clockProblem: () => platform.clock.problem,
    settings: settingStates(givenSecrets(edition)),
    tokenKey,
    passwordSignIn: config.passwordSignIn,
    secondFactorRoles: config.secondFactorRoles,
    trustedProxies: proxies,
    ...httpServerOptions(config, proxies, logger),
    publicUrl: config.publicUrl,
    passwordCost,
    positionTimeoutMs,
    objectsFolder: config.objectsUrl === undefined ? config.objectsDir : undefined,
    mcpUrl: config.mcpUrl ?? localAddress(config.bind, config.mcpPort),
    dashboardDir,
    sdkDir,
    updates: { provider, releases, wake: () => updater.loop?.wake() },
  });
  platform.exportMetrics(backend.services.metrics.registry);
  const { adminEmail: email, adminPassword: password, examples } = config;
  const administrator = password === undefined ? undefined : { email, password };
  await seed(backend.services, administrator, examples);
  if (!isLoopback(config.bind) && config.trustedProxies.length === 0) {
    logger.warn(
      { bind: config.bind },
      'credentials are sent unencrypted; put an HTTPS proxy in front of the service',
    );
  }
  await backend.listen(config.httpPort, config.bind).catch((error: unknown) => {
    throw portError(error, config.httpPort);
  });
  repositories.loop = startRepositoryPolling(backend.services);
  if (releases !== undefined) {
    updater.loop = startUpdater({
      ...rest,
      database: database.pool,
      objects,
      logger,
      provider,
      releases,
    });
  }
  return {
    stop: async () => {
      // Closes each connection after its next response. Idle connections stay open, because a reverse proxy may be
      // sending a request on one.
      backend.announceStop();
      await wait(shutdownDelayMs);
      await updater.loop?.stop();
      await repositories.loop?.stop();
      await backend.close();
      await platform.close();
    },
  };
}

/** The secrets that the process receives. In the minimal edition, the initial password is missing, because the
 *  supervisor passes it on only once. */
function givenSecrets(edition: 'minimal' | 'production'): readonly SettingName[] {
  return ownSettings.filter((name) => edition === 'production' || name !== 'adminPassword');
}

function isLoopback(address: string): boolean {
  return address.startsWith('127.') || address === '::1';
}

function portError(error: unknown, port: number): unknown {
  const isTaken = error instanceof Error && 'code' in error && error.code === 'EADDRINUSE';
  return isTaken
    ? new Error(`port ${port} of the backend is already in use; set ORCH_HTTP_PORT to another port`)
    : error;
}
