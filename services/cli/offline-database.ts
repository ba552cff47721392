/** Provides the database for commands that replace all data. No service may use the database at the same time. */
import { chmodSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { startEmbeddedPostgres } from '#infra/embedded/postgres.ts';
import { openDatabase } from '#infra/postgres/database.ts';
import { readConfig } from '#services/shared/config.ts';
import { holdFolder } from '#services/shared/hold.ts';
import type pg from 'pg';
import { CommandProblem, exitCodes } from './problem.ts';
import { withServerDatabase } from './server-database.ts';
import type { Terminal } from './terminal.ts';

/** Connects as the schema's owner. Uses the database that the environment names, or starts the database of the
 *  minimal edition.
 *  @throws CommandProblem if the minimal edition is running */
export async function withOfflineDatabase(
  terminal: Terminal,
  use: (pool: pg.Pool) => Promise<void>,
): Promise<void> {
  const { ORCH_DATABASE_ADMIN_URL: url, ORCH_DATABASE_ADMIN_URL_FILE: file } = process.env;
  if (url || file) return await withServerDatabase(terminal, use);
  const { dataDir } = readConfig(['dataDir']);
  mkdirSync(dataDir, { recursive: true, mode: 0o711 });
  // If root starts the service, the database and the scripts run as other users. Those users must be able to reach
  // their own subfolders.
  chmodSync(dataDir, process.getuid?.() === 0 ? 0o711 : 0o700);
  hold(dataDir);
  const server = await startEmbeddedPostgres({
    directory: join(dataDir, 'postgres'),
    say: (line) => terminal.problem(line),
  });
  try {
    const database = openDatabase(server.adminUrl, {
      connections: 2,
      applicationName: 'cli',
      onIdleError: () => undefined, // This function stops the server.
    });
    try {
      await use(database.pool);
    } finally {
      await database.close();
    }
  } finally {
    await server.stop();
  }
}

function hold(dataDir: string): void {
  try {
    holdFolder(dataDir);
  } catch (error) {
    const { message } = error as Error;
    throw new CommandProblem(exitCodes.refused, `${message}.`, { cause: error });
  }
}
