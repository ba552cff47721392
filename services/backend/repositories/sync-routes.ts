/** Git repository syncs and the applied commits. */
import { findRepository } from '#projections/repositories/queries.ts';
import Type from 'typebox';
import { operation, type Operation } from '../http/operation.ts';
import { isProblem, notFound } from '../http/problem.ts';
import { json } from '../http/reply.ts';
import { Exact, pathParameters } from '../http/schema.ts';
import { CommitItems, RepositorySync } from './schema.ts';
import { syncRepository } from './sync.ts';
import { syncedJson, syncJson } from './view.ts';

const tag = 'Repositories';
const path = '/api/v1/repositories';
const access = { right: 'system.manage' } as const;
const parameters = { repository_id: pathParameters.repositoryId };
const lockTimeoutMs = 30_000;

const sync = operation({
  method: 'post',
  path: `${path}/{repository_id}/sync`,
  operationId: 'syncRepository',
  summary: 'Apply the newest commit of a Git repository (all or nothing)',
  description:
    'Also reverts changes that users made on the platform since the last sync. In `write_back` mode, script changes ' +
    'are pushed first, and are reverted only if `discard` is set. With `dry_run`, nothing is changed and the ' +
    'response lists the planned changes.',
  tag,
  access,
  parameters,
  query: Exact({
    dry_run: Type.Optional(Type.Boolean({ default: false })),
    discard: Type.Optional(
      Type.Boolean({
        default: false,
        description:
          'Reverts script changes that were made on the platform and are not in the branch.',
      }),
    ),
  }),
  responses: {
    200: {
      description: 'The planned or applied changes.',
      schema: RepositorySync,
      headers: ['Orch-Position'],
    },
  },
  refusals: ['sync_failed', 'sync_in_progress'],
  handle: async ({ parameters: { repository_id: id }, query, context, origin, gone }, services) => {
    const { dry_run: dryRun = false, discard = false } = query;
    const wanted = {
      repositoryId: id,
      dryRun,
      discard,
      onlyNew: false,
      lockTimeoutMs,
      origin,
      context,
    };
    const signal = dryRun ? gone() : new AbortController().signal;
    const done = await syncRepository({ ...wanted, signal }, services);
    if (done === undefined) return notFound;
    if (isProblem(done)) return done;
    const { position } = done;
    const headers = position === undefined ? {} : { 'Orch-Position': String(position) };
    return json(200, syncJson(done, dryRun), headers);
  },
});

const commits = operation({
  method: 'get',
  path: `${path}/{repository_id}/commits`,
  operationId: 'listRepositoryCommits',
  summary: 'List the applied commits of a Git repository, newest first',
  description: 'Returns at most 100 commits. The audit trail contains all of them.',
  tag,
  access,
  parameters,
  responses: { 200: { description: 'The commits.', schema: CommitItems } },
  handle: async ({ parameters: { repository_id: id } }, { readModels }) => {
    const row = await findRepository(readModels, id);
    return row === undefined ? notFound : json(200, { items: row.commits.map(syncedJson) });
  },
});

export const repositorySyncOperations: readonly Operation[] = [sync, commits];
