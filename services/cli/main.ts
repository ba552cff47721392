/** Commands for the operator, beside running services: `node services/cli/main.ts <command>`. */
import { join } from 'node:path';
import { embeddedAddresses } from '#infra/embedded/postgres.ts';
import { openDatabase } from '#infra/postgres/database.ts';
import { ConfigError, readConfig } from '#services/shared/config.ts';
import { projectionsCommand, usage } from './projections.ts';
import { terminal } from './terminal.ts';

const [command, ...rest] = process.argv.slice(2);
process.exitCode = command === 'projections' ? await withDatabase() : fail(usage, 2);

async function withDatabase(): Promise<number> {
  try {
    const database = openDatabase(adminUrl(), {
      connections: 2,
      applicationName: 'cli',
      onIdleError: (error) => terminal.problem(error.message),
    });
    try {
      return await projectionsCommand(rest, database.pool, terminal);
    } finally {
      await database.close();
    }
  } catch (error) {
    if (error instanceof ConfigError) return fail(error.problems.join('\n'), 2);
    return fail(error instanceof Error ? error.message : String(error), 1);
  }
}

/** What the environment says, or else the database of the minimal edition in its data folder. */
function adminUrl(): string {
  const { ORCH_DATABASE_ADMIN_URL: url, ORCH_DATABASE_ADMIN_URL_FILE: file } = process.env;
  const { dataDir } = readConfig(['dataDir']);
  const embedded = url || file ? undefined : embeddedAddresses(join(dataDir, 'postgres'));
  return embedded?.adminUrl ?? readConfig(['databaseAdminUrl']).databaseAdminUrl;
}

function fail(line: string, code: number): number {
  terminal.problem(line);
  return code;
}
