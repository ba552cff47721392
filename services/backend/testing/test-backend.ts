/** Starts the real backend on a free port, with its own test database and folder. */
import { Git } from '#infra/git/git.ts';
import { Targets } from '#infra/outgoing/targets.ts';
import { mkdtemp, rm } from 'node:fs/promises';
import { randomBytes } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { UpdateProvider } from '#domain/ports/updates.ts';
import { HeadSigner } from '#infra/audit/head-signer.ts';
import { MemoryBus } from '#infra/testing/memory-bus.ts';
import { openFolderStore } from '#infra/objects/folder.ts';
import { announcements } from '#infra/postgres/commands/announcements.ts';
import { CommandPipeline } from '#infra/postgres/commands/command-pipeline.ts';
import { openDatabase, queryBuilder } from '#infra/postgres/database.ts';
import { PostgresRunLogs } from '#infra/postgres/logs/run-logs.ts';
import { PostgresRunSamples } from '#infra/postgres/logs/run-samples.ts';
import { SecretStores } from '#infra/secret-stores/secret-stores.ts';
import { Vault } from '#infra/secrets/vault.ts';
import { systemClock } from '#infra/system/clock.ts';
import { systemIds } from '#infra/system/ids.ts';
import { createTestDatabase } from '#infra/testing/database.ts';
import { eventsVisible } from '#infra/testing/platform.ts';
import { inlineProjections } from '#projections/registry.ts';
import type { Tables } from '#projections/tables.ts';
import { decisionReads } from '#projections/decision-reads.ts';
import { readConfig, settingStates } from '#services/shared/config.ts';
import {
  httpServerOptions,
  httpServerSettings,
} from '#services/shared/connections/from-settings.ts';
import { createLogger } from '#services/shared/logger.ts';
import { Releases } from '#services/shared/releases.ts';
import { RunEnds } from '#services/shared/run-ends.ts';
import { version } from '#services/shared/version.ts';
import type pg from 'pg';
import { createBackend, type Backend } from '../app.ts';
import { trustedProxies } from '../http/wire/client.ts';
import type { ProcessDeps, Services } from '../services.ts';
import { seed } from '../system/seed.ts';
import { LogLines } from './log-lines.ts';
import { TestClient } from './test-client.ts';

export const administrator = { email: 'admin@example.com', password: 'the first password' };

/** The release in the simulated update repository. */
export const nextRelease = {
  version: '999.0.0',
  notes: 'Better.',
  releasedAt: '2026-11-20T00:00:00.000Z',
  expiresAt: '2027-11-20T00:00:00.000Z',
  minimumVersion: '0.0.1',
  sizeBytes: 1000,
  sha256: 'c'.repeat(64),
};
const repository: UpdateProvider = {
  checkLatest: () => Promise.resolve(nextRelease),
  download: () => Promise.reject(new Error('it cannot be downloaded')),
  verify: () => Promise.resolve(false),
};

export interface TestBackend {
  /** `http://127.0.0.1:<port>` */
  readonly origin: string;
  readonly backend: Backend;
  readonly services: Services;
  readonly pool: pg.Pool;
  /** The database URL of the schema's owner. */
  readonly adminUrl: string;
  readonly bus: MemoryBus;
  /** The log lines. */
  readonly logged: LogLines;
  /** An unauthenticated client. */
  readonly anonymous: TestClient;
  /** A client signed in as the first administrator. */
  readonly admin: TestClient;
  /** Stops the backend and removes its data. */
  close(): Promise<void>;
}

/** Starts a backend and signs in the first administrator. Proxies on loopback are trusted, so that tests
 *  can use other client addresses. */
export async function startTestBackend(changes: Partial<ProcessDeps> = {}): Promise<TestBackend> {
  const db = await createTestDatabase();
  const { pool, close } = openDatabase(db.serviceUrl, {
    connections: 10,
    applicationName: 'backend test',
    onIdleError: () => undefined,
  });
  const folder = await mkdtemp(join(tmpdir(), 'orch-backend-'));
  const bus = new MemoryBus();
  const logged = new LogLines();
  const releases = new Releases(folder);
  const before = { version: '0.0.1', folder };
  releases.write('active', { version, folder, previous: before });
  const masterKeys = [randomBytes(32)] as const;
  const logger = createLogger('backend', 'info', logged);
  const proxies = trustedProxies(['127.0.0.1']);
  const runEnds = new RunEnds(pool);
  const vault = new Vault(pool, masterKeys, systemIds);
  const backend = createBackend({
    ...httpServerOptions(readConfig(httpServerSettings, {}), proxies, logger),
    commands: new CommandPipeline({
      pool,
      clock: changes.clock ?? systemClock,
      ids: systemIds,
      projections: inlineProjections,
      decisionReads,
      announce: (events) => {
        bus.publish(...announcements(events));
        runEnds.recorded(events);
      },
    }),
    readModels: queryBuilder<Tables>(pool),
    database: pool,
    pool,
    vault,
    secretStores: new SecretStores({
      vault,
      targets: new Targets([]),
      folders: [`mounted=${folder}`],
    }),
    masterKeys,
    auditSigner: new HeadSigner(randomBytes(32)),
    objects: await openFolderStore({ folder: join(folder, 'objects') }),
    git: new Git(new Targets(['127.0.0.0/8'])),
    wakeRepositories: () => undefined,
    runLogs: new PostgresRunLogs(pool),
    runSamples: new PostgresRunSamples(pool),
    bus,
    passwordSignIn: 'everyone',
    secondFactorRoles: [],
    clock: systemClock,
    ids: systemIds,
    runEnds,
    logger,
    edition: 'minimal',
    settings: settingStates([], {}),
    objectsFolder: folder,
    tokenKey: randomBytes(32),
    trustedProxies: proxies,
    passwordCost: 4,
    positionTimeoutMs: 5_000,
    dashboardDir: join(folder, 'dashboard'),
    // No server listens on this port.
    mcpUrl: 'http://127.0.0.1:9',
    updates: {
      provider: repository,
      releases,
      wake: () => undefined,
    },
    sdkDir: fileURLToPath(new URL('../../runtime/python/sdk', import.meta.url)),
    ...changes,
  });
  await seed(backend.services, administrator, false);
  // Transactions in other databases of the server delay the visibility. Subscribers would receive the events later.
  await eventsVisible(pool);
  const origin = `http://127.0.0.1:${await backend.listen(0, '127.0.0.1')}`;
  const anonymous = new TestClient(origin);
  return {
    origin,
    backend,
    services: backend.services,
    pool,
    adminUrl: db.adminUrl,
    bus,
    logged,
    anonymous,
    admin: await anonymous.signIn(administrator),
    close: async () => {
      await backend.close();
      await bus.close();
      await close();
      await db.drop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
