/** A database server for a single test file. Such a test changes, suspends or inspects the server, which must not
 *  affect tests on the shared server. */
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startEmbeddedPostgres, type EmbeddedPostgres } from '#infra/embedded/postgres.ts';
import { migrate } from '#infra/postgres/migrate.ts';

export interface SeparateServer extends EmbeddedPostgres {
  /** The folder that contains the cluster and its log. */
  readonly directory: string;
}

/** Starts a server with a migrated database. `stop` also removes its data. */
export async function startSeparateServer(): Promise<SeparateServer> {
  const folder = mkdtempSync(join(tmpdir(), 'orch-server-'));
  chmodSync(folder, 0o711); // the server may have to run as another user
  const directory = join(folder, 'postgres');
  const server = await startEmbeddedPostgres({
    directory,
    fallbackParent: join(folder, 'fallback'),
    durable: false,
  });
  await migrate(server.adminUrl, {
    directory: fileURLToPath(new URL('../../migrations', import.meta.url)),
  });
  return {
    ...server,
    directory,
    stop: async () => {
      await server.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
