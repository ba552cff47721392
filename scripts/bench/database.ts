/** A database configured like the product's, for subjects that need only a database. */
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ADMIN_USER, DATABASE } from '#infra/embedded/cluster.ts';
import { startEmbeddedPostgres } from '#infra/embedded/postgres.ts';
import { preparePrincipals } from '#infra/embedded/principals.ts';
import { openDatabase, type Database } from '#infra/postgres/database.ts';
import { migrate } from '#infra/postgres/migrate.ts';
import { nodeAddress, nodePassword, type DatabaseNode } from '#infra/testing/database-node.ts';
import { platformSettings, readConfig } from '#services/shared/config.ts';
import { createLogger } from '#services/shared/logger.ts';
import { openPlatform, type Platform } from '#services/shared/platform.ts';
import type pg from 'pg';

const migrations = fileURLToPath(new URL('../../migrations', import.meta.url));

export interface BenchDatabase {
  /** Addresses of the schema's owner, and of the services. */
  readonly adminUrl: string;
  readonly serviceUrl: string;
  /** Connections as the services make them; closed at the end. */
  open(connections: number, as?: 'service' | 'admin'): pg.Pool;
}

/** Starts the project's own server for a callback, on a Unix socket and as durable as the product's, with the whole
 *  schema. */
export async function onDatabase(
  measure: (database: BenchDatabase) => Promise<void>,
): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'bench-'));
  await chmod(folder, 0o711); // the server may have to run as another user
  const server = await startEmbeddedPostgres({
    directory: join(folder, 'postgres'),
    fallbackParent: join(folder, 'fallback'),
  });
  const { adminUrl, serviceUrl } = server;
  const opened: Database[] = [];
  const open = (connections: number, as: 'service' | 'admin' = 'service'): pg.Pool => {
    const database = openDatabase(as === 'admin' ? adminUrl : serviceUrl, {
      connections,
      applicationName: 'bench',
      onIdleError: () => undefined,
    });
    opened.push(database);
    return database.pool;
  };
  try {
    await migrate(adminUrl, { directory: migrations });
    await measure({ adminUrl, serviceUrl, open });
  } finally {
    for (const database of opened) await database.close();
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

/** Starts a new database node, with the users and the whole schema. */
export async function startNode(node: DatabaseNode): Promise<void> {
  await node.initialise();
  await node.start();
  await preparePrincipals(nodeAddress(node.sockets, ADMIN_USER, 'postgres'), nodePassword);
  await migrate(nodeAddress(node.sockets, ADMIN_USER, DATABASE), { directory: migrations });
}

/** Opens a platform on such a database, as a process does. */
export function platformOn(
  { serviceUrl }: Pick<BenchDatabase, 'serviceUrl'>,
  connections: number,
): Promise<Platform> {
  const logger = createLogger('bench', 'silent');
  const config = readConfig(platformSettings, { ORCH_DATABASE_URL: serviceUrl });
  return openPlatform({ ...config, name: 'bench', connections, logger });
}
