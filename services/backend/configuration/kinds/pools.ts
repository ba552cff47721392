/** Pools in a configuration. */
import { mustParse, parsePoolId } from '#domain/kernel/ids.ts';
import { poolNameProblem } from '#domain/pool/pool.ts';
import { listPools } from '#projections/pools/queries.ts';
import { badField, problem } from '../../http/problem.ts';
import type { Kind } from '../kind.ts';

export const poolKind: Kind<'pools'> = {
  kind: 'pool',
  section: 'pools',
  stream: 'pool',
  present: async ({ services: { readModels } }) =>
    (await listPools(readModels)).map(({ pool_id: id, name, max_runs, in_use }) => {
      const poolId = mustParse(parsePoolId, id);
      return {
        item: { id, name, limit: max_runs },
        hidden: false,
        ...(in_use && {
          kept:
            'The pool is still in use, possibly by deleted scripts. Remove the pool from the settings of those ' +
            'scripts first.',
        }),
        change: ({ name: wanted, limit }) =>
          Promise.resolve(
            wanted === name
              ? {
                  item: { id, name, limit },
                  commands: () => Promise.resolve([{ type: 'ChangePool', poolId, limit }]),
                }
              : permanentName,
          ),
        remove: () => ({ type: 'DeletePool', poolId, name }),
      };
    }),
  make: ({ id, name, limit }) => {
    const wrong = poolNameProblem(name);
    if (wrong !== undefined) return Promise.resolve(badField('name', wrong));
    const poolId = mustParse(parsePoolId, id);
    return Promise.resolve({
      item: { id, name, limit },
      commands: () => Promise.resolve([{ type: 'CreatePool', poolId, name, limit }]),
    });
  },
};

const permanentName = problem(
  'validation_failed',
  'The name of a pool cannot be changed. To create another pool, use a new ID.',
);
