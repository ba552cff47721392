/** Prepares the database and the object store for this version of the program. */
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { prepareObjectStore } from '#infra/objects/open.ts';
import { awaitDatabase, withoutPassword } from '#infra/postgres/await-database.ts';
import { confineQueries } from '#infra/postgres/script-queries/confine-queries.ts';
import { migrate, newerSchema } from '#infra/postgres/migrate.ts';
import { prepareServiceUser } from '#infra/postgres/service-user.ts';
import { isDatabaseAway } from '#infra/postgres/database-away.ts';
import { objectStoreSettings, readConfig, ConfigError } from '#services/shared/config.ts';
import { CommandProblem, exitCodes } from './problem.ts';
import { rebuildOutdated } from './projections.ts';
import { withServerDatabase } from './server-database.ts';
import type { Terminal } from './terminal.ts';

const migrations = fileURLToPath(new URL('../../migrations', import.meta.url));

const pauseMs = 5_000;

/** Prepares the database and the object store. Idempotent, even if it runs concurrently. Waits until the database is
 *  available, and starts over if the connection is lost.
 *  @throws CommandProblem if a setting is missing, or the database belongs to a newer version */
export async function setUp(terminal: Terminal, signal: AbortSignal): Promise<void> {
  const config = settings();
  const onAway = (tried: string, { message }: Error) =>
    terminal.problem(`${tried} does not respond (${message}); retrying`);
  for (;;) {
    await awaitDatabase(config.databaseAdminUrl, { signal, passes: isDatabaseAway, onAway });
    try {
      await runSetup(config, terminal);
      return;
    } catch (error) {
      if (!(error instanceof Error) || !isDatabaseAway(error)) throw error;
      onAway(withoutPassword(config.databaseAdminUrl), error);
    }
    await pause(pauseMs, undefined, { signal });
  }
}

async function runSetup(config: ReturnType<typeof settings>, terminal: Terminal): Promise<void> {
  const { databaseAdminUrl: adminUrl, databaseUrl } = config;
  const { applied, ahead } = await migrate(adminUrl, { directory: migrations });
  if (ahead.length > 0) throw new CommandProblem(exitCodes.refused, newerSchema(ahead));
  for (const name of applied) terminal.line(`migrated ${name}`);
  const gaps = await confineQueries(adminUrl);
  if (gaps.length > 0) {
    terminal.problem(
      `script queries are disabled because they could access ${gaps.length} unlisted database objects ` +
        '(functions, relations or parameters); run "SELECT queries.confine()" as a superuser of the database',
    );
  }
  await prepareServiceUser(adminUrl, databaseUrl);
  await withServerDatabase(terminal, (pool) => rebuildOutdated(pool, terminal));
  if (await prepareObjectStore(config)) terminal.line(`created ${config.objectsUrl}`);
  terminal.line('ready');
}

function settings() {
  try {
    return readConfig(['databaseAdminUrl', 'databaseUrl', ...objectStoreSettings]);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    throw new CommandProblem(exitCodes.configuration, error.problems.join('\n'), { cause: error });
  }
}
