/** Supervises the database server. */
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { startEmbeddedPostgres, type EmbeddedPostgres } from '#infra/embedded/postgres.ts';
import { confineQueries } from '#infra/postgres/script-queries/confine-queries.ts';
import { isDatabaseAway } from '#infra/postgres/database-away.ts';
import { migrate, newerSchema } from '#infra/postgres/migrate.ts';
import { rebuildOutdated } from './rebuilds.ts';
import { restartDelayMs } from './service.ts';

/** The maximum number of start attempts. The server may be killed while it starts, for example by the out-of-memory
 *  killer. */
const START_ATTEMPTS = 3;
const MIGRATIONS = fileURLToPath(new URL('../../migrations', import.meta.url));

export interface Database {
  /** The database URL for the services. */
  readonly serviceUrl: string;
  /** Stops the database. Idempotent. */
  stop(): Promise<void>;
}

/** Starts the database, migrates its schema, and restarts it after crashes.
 *  @param onEnd called after each server crash
 *  @throws Error with a message for the user */
export async function startDatabase(
  dataDir: string,
  say: (line: string) => void,
  onEnd?: (what: string) => void,
): Promise<Database> {
  const server = await startPatiently(dataDir, say);
  const stopping = new AbortController();
  const kept = keepAlive(server, stopping.signal, say, onEnd);
  return {
    serviceUrl: server.serviceUrl,
    async stop() {
      stopping.abort();
      await server.stop();
      await kept;
    },
  };
}

async function startPatiently(
  dataDir: string,
  say: (line: string) => void,
): Promise<EmbeddedPostgres> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await startOnce(dataDir, say);
    } catch (error) {
      if (!isDatabaseAway(error) || attempt === START_ATTEMPTS) throw error;
      say('The database exited during startup; restarting it');
    }
  }
}

async function startOnce(dataDir: string, say: (line: string) => void): Promise<EmbeddedPostgres> {
  const server = await startEmbeddedPostgres({ directory: join(dataDir, 'postgres'), say });
  try {
    const { ahead } = await migrate(server.adminUrl, { directory: MIGRATIONS });
    if (ahead.length > 0) throw new Error(newerSchema(ahead));
    await confineQueries(server.adminUrl);
    await rebuildOutdated(dataDir, say);
    return server;
  } catch (error) {
    await server.stop();
    throw error;
  }
}

async function keepAlive(
  server: EmbeddedPostgres,
  signal: AbortSignal,
  say: (line: string) => void,
  onEnd?: (what: string) => void,
): Promise<void> {
  for (let failures = 0; ;) {
    const { code, signal: killer } = await server.exited();
    if (signal.aborted) return;
    const how = killer ?? `exit code ${code}`;
    onEnd?.(`the database exited (${how})`);
    say(`The database exited (${how}); restarting it`);
    await wait(restartDelayMs(failures), undefined, { signal }).catch(() => undefined);
    if (signal.aborted) return;
    try {
      await server.restart();
      if (signal.aborted) return await server.stop();
      failures = 0;
      say('The database is running again');
    } catch (error) {
      failures += 1;
      say(`The database failed to start: ${(error as Error).message}`);
    }
  }
}
