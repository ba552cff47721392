/** The database's process, kept alive. */
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { startEmbeddedPostgres } from '#infra/embedded/postgres.ts';
import { confineQueries } from '#infra/postgres/confine-queries.ts';
import { migrate, newerSchema } from '#infra/postgres/migrate.ts';
import { rebuildOutdated } from './rebuilds.ts';
import { restartDelayMs } from './service.ts';

const MIGRATIONS = fileURLToPath(new URL('../../migrations', import.meta.url));

export interface Database {
  /** For the services. */
  readonly serviceUrl: string;
  /** Stops it; safe twice. */
  stop(): Promise<void>;
}

/** Starts the database, brings its schema to the present, and from then on restarts it when it dies.
 *  @throws Error with a line for the user */
export async function startDatabase(
  dataDir: string,
  say: (line: string) => void,
): Promise<Database> {
  const server = await startEmbeddedPostgres({ directory: join(dataDir, 'postgres'), say });
  const stopping = new AbortController();
  try {
    const { ahead } = await migrate(server.adminUrl, { directory: MIGRATIONS });
    if (ahead.length > 0) throw new Error(newerSchema(ahead));
    await confineQueries(server.adminUrl);
    await rebuildOutdated(dataDir, say);
  } catch (error) {
    await server.stop();
    throw error;
  }
  const kept = keepAlive(server, stopping.signal, say);
  return {
    serviceUrl: server.serviceUrl,
    async stop() {
      stopping.abort();
      await server.stop();
      await kept;
    },
  };
}

async function keepAlive(
  server: Awaited<ReturnType<typeof startEmbeddedPostgres>>,
  signal: AbortSignal,
  say: (line: string) => void,
): Promise<void> {
  for (let failures = 0; ;) {
    const { code, signal: killer } = await server.exited();
    if (signal.aborted) return;
    say(`The database ended (${killer ?? `exit code ${code}`}); starting it again`);
    await wait(restartDelayMs(failures), undefined, { signal }).catch(() => undefined);
    if (signal.aborted) return;
    try {
      await server.restart();
      if (signal.aborted) return await server.stop();
      failures = 0;
      say('The database is back');
    } catch (error) {
      failures += 1;
      say(`The database does not start: ${(error as Error).message}`);
    }
  }
}
