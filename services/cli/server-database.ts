/** Connects to the platform's database, for commands that run on the server. */
import { join } from 'node:path';
import type pg from 'pg';
import { embeddedAddresses } from '#infra/embedded/postgres.ts';
import { isDatabaseAway } from '#infra/postgres/database-away.ts';
import { openDatabase } from '#infra/postgres/database.ts';
import { ConfigError, readConfig } from '#services/shared/config.ts';
import { CommandProblem, exitCodes } from './problem.ts';
import type { Terminal } from './terminal.ts';

/** Connects as the schema's owner.
 *  @throws CommandProblem if the settings name no database, or the database is unavailable */
export async function withServerDatabase(
  terminal: Terminal,
  use: (pool: pg.Pool) => Promise<void>,
): Promise<void> {
  const database = openDatabase(adminUrl(), {
    connections: 2,
    applicationName: 'cli',
    onIdleError: (error) => terminal.problem(error.message),
  });
  try {
    await use(database.pool);
  } catch (error) {
    if (!(error instanceof Error) || !isDatabaseAway(error)) throw error;
    const message = `The database does not respond (${error.message}). Try again when it is available.`;
    throw new CommandProblem(exitCodes.unavailable, message, { cause: error });
  } finally {
    await database.close();
  }
}

/** The URL of the database from the environment variables, or of the embedded database in the data folder. */
function adminUrl(): string {
  const { ORCH_DATABASE_ADMIN_URL: url, ORCH_DATABASE_ADMIN_URL_FILE: file } = process.env;
  try {
    const { dataDir } = readConfig(['dataDir']);
    const embedded = url || file ? undefined : embeddedAddresses(join(dataDir, 'postgres'));
    return embedded?.adminUrl ?? readConfig(['databaseAdminUrl']).databaseAdminUrl;
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    throw new CommandProblem(exitCodes.configuration, error.problems.join('\n'), { cause: error });
  }
}
