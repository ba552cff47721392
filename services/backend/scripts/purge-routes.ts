/** Permanently removes deleted scripts. */
import { findPurge } from '#projections/scripts/queries.ts';
import { canSeeScriptOrDeleted } from '../access/visibility.ts';
import { operation, type Operation } from '../http/operation.ts';
import { accepted, positionHeader } from '../http/outcome.ts';
import { isProblem, notFound } from '../http/problem.ts';
import { json } from '../http/reply.ts';
import { pathParameters } from '../http/schema.ts';
import { Purge } from './schema.ts';

const purge = operation({
  method: 'post',
  path: '/api/v1/scripts/{id}/purge',
  operationId: 'purgeScript',
  summary: 'Permanently delete the data of a deleted script',
  description:
    'Deletes the files of all versions, the logs, samples, artifacts and parameters of its runs, the ' +
    'keys of its secrets, and cached data on runtimes. Afterwards, the script cannot be restored. Its history and ' +
    'the list of its runs remain. The purge runs in the background. Poll this operation for its state.',
  tag: 'Scripts',
  access: { right: 'system.manage' },
  parameters: { id: pathParameters.scriptId },
  responses: {
    202: { description: 'In progress, or finished.', schema: Purge, headers: ['Orch-Position'] },
  },
  refusals: ['script_not_deleted'],
  handle: async ({ principal, parameters: { id }, context }, { commands, readModels }) => {
    if (!(await canSeeScriptOrDeleted(principal, id, readModels))) return notFound;
    const outcome = accepted(
      await commands.execute({ type: 'PurgeScript', scriptId: id }, context),
    );
    if (isProblem(outcome)) return outcome;
    const state = (await findPurge(readModels, id)) ?? 'started';
    return json(202, { script_id: id, state }, positionHeader(outcome));
  },
});

export const scriptPurgeOperations: readonly Operation[] = [purge];
