/** Commands on the server's own machine: they use its database, not its API. What that takes is loaded when
 *  it is asked for, as the other commands need none of it. */
import type { Command } from '../command.ts';
import { exitCodes, usageProblem } from '../problem.ts';

const database =
  'ORCH_DATABASE_ADMIN_URL names the database; without it, the one of the minimal edition in ORCH_DATA_DIR is ' +
  'used, which has to be running.';

export const projectionsList: Command = {
  name: 'projections list',
  arguments: '',
  summary: 'say which read models there are, and how far they have read (on the server)',
  details: database,
  examples: [['projections list', 'all of them']],
  run: async ({ terminal }) => {
    const [{ withServerDatabase }, { listProjections }] = await modules();
    return await withServerDatabase(terminal, async (pool) => {
      await listProjections(pool, terminal);
      return exitCodes.done;
    });
  },
};

export const projectionsRebuild: Command = {
  name: 'projections rebuild',
  arguments: '[NAME]',
  summary: 'make read models anew from the events, beside the running ones (on the server)',
  details: database,
  options: { outdated: { help: 'all that were made by another version of the program' } },
  examples: [
    ['projections rebuild runs', 'one'],
    ['projections rebuild --outdated', 'those that need it'],
  ],
  run: async ({ args, options, terminal }) => {
    const [name] = args;
    if (options.has('outdated') ? args.length > 0 : args.length !== 1) {
      throw usageProblem('Expected the NAME of a read model, or --outdated.');
    }
    const [{ withServerDatabase }, { rebuildNamed, rebuildOutdated }] = await modules();
    return await withServerDatabase(terminal, async (pool) => {
      await (name === undefined
        ? rebuildOutdated(pool, terminal)
        : rebuildNamed(name, pool, terminal));
      return exitCodes.done;
    });
  },
};

async function modules() {
  return await Promise.all([import('../server-database.ts'), import('../projections.ts')]);
}
