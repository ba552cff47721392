/** A database that is configured like the product's, for benchmarks that need only a database. */
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
  /** The URLs for the schema's owner and for the services. */
  readonly adminUrl: string;
  readonly serviceUrl: string;
  /** Opens connections like those of the services. The connections are closed when the callback returns. */
  open(connections: number, as?: 'service' | 'admin'): pg.Pool;
}

/** Starts a database server for a callback. Like the product's server, it listens on a Unix socket, flushes to disk and
 *  has the whole schema. */
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

/** Starts a new database node with all users and the complete schema. */
export async function startNode(node: DatabaseNode): Promise<void> {
  await node.initialise();
  await node.start();
  await preparePrincipals(nodeAddress(node.sockets, ADMIN_USER, 'postgres'), nodePassword);
  await migrate(nodeAddress(node.sockets, ADMIN_USER, DATABASE), { directory: migrations });
}

/** Opens a platform on such a database, as a service process does. */
export function platformOn(
  { serviceUrl }: Pick<BenchDatabase, 'serviceUrl'>,
  connections: number,
): Promise<Platform> {
  const logger = createLogger('bench', 'silent');
  const config = readConfig(platformSettings, { ORCH_DATABASE_URL: serviceUrl });
  return openPlatform({ ...config, name: 'bench', connections, logger });
}
