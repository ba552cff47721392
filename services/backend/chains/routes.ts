/** Manages chains. When a run of one script ends, a chain starts a run of another script. */
import { mustParse, parseChainId, parseRunId, parseScriptId } from '#domain/kernel/ids.ts';
import {
  findChain,
  listChainAnswers,
  listChains,
  type ChainView,
} from '#projections/chains/queries.ts';
import Type from 'typebox';
import { visibleGroups } from '../access/visibility.ts';
import { operation, type Operation } from '../http/operation.ts';
import { type Accepted, noContent, positionHeader, writtenId } from '../http/outcome.ts';
import { defaultLimit, keyOf, pageReply, onePage } from '../http/paging.ts';
import { aboutCurrentGroups, atParameter } from '../http/point-in-time.ts';
import { isProblem, notFound } from '../http/problem.ts';
import { json, type Answer } from '../http/reply.ts';
import { Exact, examples, pageQuery, pathParameters, Uuid } from '../http/schema.ts';
import { aboutPastLists, listAt, replyAt } from '../replay/resource-at.ts';
import { viewWithParams } from '../runs/trigger-params.ts';
import type { Services } from '../services.ts';
import { changeChain, createChain, visibleChain } from './change-chain.ts';
import { Chain, ChainChange, ChainOccurrencePage, ChainPage, NewChain } from './schema.ts';
import { chainJson, occurrenceJson } from './view.ts';

const tag = 'Chains';
const path = '/api/v1/chains';
const access = { right: 'chains.manage' } as const;
const parameters = { chain_id: pathParameters.chainId };

const list = operation({
  method: 'get',
  path,
  operationId: 'listChains',
  summary: 'List chains, newest first, optionally at a point in time',
  description: aboutPastLists,
  tag,
  access,
  query: Exact({
    ...pageQuery,
    source_script_id: Type.Optional(Uuid()),
    target_script_id: Type.Optional(Uuid()),
    at: atParameter,
  }),
  responses: onePage(ChainPage),
  handle: async ({ principal, query, url }, services) => {
    const { readModels } = services;
    const { limit, cursor, source_script_id: source, target_script_id: target, at } = query;
    if (at !== undefined) {
      const named = { source_script_id: source, target_script_id: target };
      const past = { principal, at, url, limit, cursor, filter: named };
      return await listAt('chains', past, services);
    }
    const filter = {
      groupIds: visibleGroups(principal),
      sourceScriptId: source === undefined ? null : mustParse(parseScriptId, source),
      targetScriptId: target === undefined ? null : mustParse(parseScriptId, target),
    };
    const request = { list: 'chains', filter, url, limit, cursor };
    const after = keyOf(request, parseChainId);
    if (isProblem(after)) return after;
    const rows = await listChains(readModels, filter, after.key, (limit ?? defaultLimit) + 1);
    const view = await viewWithParams(rows, chainJson, services);
    return pageReply(request, rows, (row) => row.chain_id, view);
  },
});

const create = operation({
  method: 'post',
  path,
  operationId: 'createChain',
  summary: "Create a chain that starts a script when another script's run ends",
  description:
    'Downstream runs receive the output of the upstream run as the file named by `ORCH_PAYLOAD_FILE`. A ' +
    'chain that would create a loop is rejected with 422.',
  tag,
  access,
  creates: true,
  body: {
    schema: NewChain,
    example: {
      source_script_id: examples.scriptId,
      target_script_id: examples.otherScriptId,
      on: 'success',
    },
  },
  responses: {
    201: {
      description: 'The chain was created.',
      schema: Chain,
      headers: ['Location', 'Orch-Position'],
    },
  },
  handle: async (call, services) => {
    const outcome = await createChain(call, services);
    return isProblem(outcome) ? outcome : await shown(201, outcome, services);
  },
});

const get = operation({
  method: 'get',
  path: `${path}/{chain_id}`,
  operationId: 'getChain',
  summary: 'Read a chain, now or at a point in time',
  description: aboutCurrentGroups,
  tag,
  access,
  parameters,
  query: Exact({ at: atParameter }),
  responses: { 200: { description: 'The chain.', schema: Chain } },
  handle: async ({ principal, parameters: { chain_id: chainId }, query: { at } }, services) => {
    if (at !== undefined) return await replyAt('chains', { principal, at, id: chainId }, services);
    const chain = await visibleChain(principal, chainId, services);
    return chain === undefined ? notFound : json(200, await withParams(chain, services));
  },
});

const change = operation({
  method: 'patch',
  path: `${path}/{chain_id}`,
  operationId: 'changeChain',
  summary: 'Change the settings or target of a chain',
  description: 'A chain applies only to runs that end after the chain was enabled.',
  tag,
  access,
  parameters,
  body: {
    schema: ChainChange,
    example: { enabled: false },
    mediaTypes: ['application/merge-patch+json'],
  },
  responses: {
    200: { description: 'The updated resource.', schema: Chain, headers: ['Orch-Position'] },
  },
  handle: async (call, services) => {
    const outcome = await changeChain(call, services);
    return isProblem(outcome) ? outcome : await shown(200, outcome, services);
  },
});

const remove = operation({
  method: 'delete',
  path: `${path}/{chain_id}`,
  operationId: 'deleteChain',
  summary: 'Delete a chain',
  tag,
  access,
  parameters,
  responses: { 204: { description: 'The chain was deleted.', headers: ['Orch-Position'] } },
  handle: async ({ principal, parameters: { chain_id: chainId }, context }, services) => {
    if ((await visibleChain(principal, chainId, services)) === undefined) return notFound;
    return noContent(await services.commands.execute({ type: 'DeleteChain', chainId }, context));
  },
});

const occurrences = operation({
  method: 'get',
  path: `${path}/{chain_id}/occurrences`,
  operationId: 'listChainOccurrences',
  summary: 'List the outcomes of a chain for the runs of its source script, newest first',
  tag,
  access,
  parameters,
  query: Exact(pageQuery),
  responses: onePage(ChainOccurrencePage),
  handle: async ({ principal, parameters: { chain_id: chainId }, query, url }, services) => {
    if ((await visibleChain(principal, chainId, services)) === undefined) return notFound;
    const { limit, cursor } = query;
    const request = { list: 'chain occurrences', filter: { chainId }, url, limit, cursor };
    const after = keyOf(request, parseRunId);
    if (isProblem(after)) return after;
    const size = (limit ?? defaultLimit) + 1;
    const rows = await listChainAnswers(services.readModels, chainId, after.key, size);
    return pageReply(request, rows, (row) => row.source_run_id, occurrenceJson);
  },
});

/** Responds with the chain that a command wrote. A repeated request gets the chain that the first request created. */
async function shown(status: 200 | 201, outcome: Accepted, services: Services): Promise<Answer> {
  const chainId = writtenId(outcome, parseChainId);
  const chain = await findChain(services.readModels, chainId);
  if (chain === undefined) return notFound;
  return json(status, await withParams(chain, services), {
    ...(status === 201 && { Location: `${path}/${chainId}` }),
    ...positionHeader(outcome),
  });
}

async function withParams(chain: ChainView, services: Services) {
  return (await viewWithParams([chain], chainJson, services))(chain);
}

export const chainOperations: readonly Operation[] = [
  list,
  create,
  get,
  change,
  remove,
  occurrences,
];
