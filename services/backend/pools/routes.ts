/** Manages pools, which are run limits that scripts share. */
import { mustParse, parsePoolId, type PoolId } from '#domain/kernel/ids.ts';
import { findPool, listPools, type PoolView } from '#projections/pools/queries.ts';
import { operation, type Operation } from '../http/operation.ts';
import { noContent, writtenReply } from '../http/outcome.ts';
import { notFound } from '../http/problem.ts';
import { json } from '../http/reply.ts';
import { pathParameters } from '../http/schema.ts';
import type { Services } from '../services.ts';
import { NewPool, Pool, PoolChanges, PoolItems } from './schema.ts';

const tag = 'System';
const path = '/api/v1/pools';
const parameters = { pool_id: pathParameters.poolId };

const list = operation({
  method: 'get',
  path,
  operationId: 'listPools',
  summary: 'List the pools with their runs, by name',
  tag,
  access: { right: 'system.read' },
  responses: { 200: { description: 'The pools.', schema: PoolItems } },
  handle: async (_call, { readModels }) =>
    json(200, { items: (await listPools(readModels)).map(poolJson) }),
});

const get = operation({
  method: 'get',
  path: `${path}/{pool_id}`,
  operationId: 'getPool',
  summary: 'Read a pool',
  tag,
  access: { right: 'system.read' },
  parameters,
  responses: { 200: { description: 'The pool.', schema: Pool } },
  handle: async ({ parameters: { pool_id } }, { readModels }) => {
    const pool = await findPool(readModels, pool_id);
    return pool === undefined ? notFound : json(200, poolJson(pool));
  },
});

const create = operation({
  method: 'post',
  path,
  operationId: 'createPool',
  summary: 'Create a pool',
  description: 'Scripts refer to the pool by its name in their `pools` setting.',
  tag,
  access: { right: 'system.manage' },
  creates: true,
  body: { schema: NewPool, example: { name: 'crm-api', limit: 3 } },
  responses: {
    201: { description: 'The new pool.', schema: Pool, headers: ['Location', 'Orch-Position'] },
  },
  refusals: ['already_exists'],
  handle: async ({ body, context }, services) => {
    const poolId = mustParse(parsePoolId, services.ids.next());
    const outcome = await services.commands.execute(
      { type: 'CreatePool', poolId, ...body },
      context,
    );
    return await writtenReply(outcome, parsePoolId, shown(services), path);
  },
});

const change = operation({
  method: 'patch',
  path: `${path}/{pool_id}`,
  operationId: 'changePool',
  summary: 'Change the limit of a pool',
  description:
    'If the limit is lowered, active runs continue, and no other run starts until a slot is free.',
  tag,
  access: { right: 'system.manage' },
  parameters,
  body: {
    schema: PoolChanges,
    example: { limit: 5 },
    mediaTypes: ['application/merge-patch+json'],
  },
  responses: { 200: { description: 'The pool.', schema: Pool, headers: ['Orch-Position'] } },
  handle: async ({ parameters: { pool_id: poolId }, body: { limit }, context }, services) => {
    const command = { type: 'ChangePool', poolId, limit } as const;
    const outcome = await services.commands.execute(command, context);
    return await writtenReply(outcome, parsePoolId, shown(services));
  },
});

const remove = operation({
  method: 'delete',
  path: `${path}/{pool_id}`,
  operationId: 'deletePool',
  summary: 'Delete a pool that no script uses',
  description: 'Runs that were waiting for the pool no longer need a slot in it.',
  tag,
  access: { right: 'system.manage' },
  parameters,
  responses: { 204: { description: 'The pool was deleted.', headers: ['Orch-Position'] } },
  refusals: ['pool_in_use'],
  handle: async ({ parameters: { pool_id: poolId }, context }, { commands, readModels }) => {
    const pool = await findPool(readModels, poolId);
    if (pool === undefined) return notFound;
    const { name } = pool;
    return noContent(await commands.execute({ type: 'DeletePool', poolId, name }, context));
  },
});

const shown =
  ({ readModels }: Services) =>
  async (id: PoolId) => {
    const row = await findPool(readModels, id);
    return row && poolJson(row);
  };

function poolJson({ pool_id: id, name, max_runs: limit, active_runs, waiting_runs }: PoolView) {
  return { id, name, limit, active_runs, waiting_runs };
}

export const poolOperations: readonly Operation[] = [list, get, create, change, remove];
