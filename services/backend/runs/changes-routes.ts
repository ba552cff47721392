/** Compares a run with the last successful run. */
import { visibleRun } from '../access/visibility.ts';
import { operation, type Operation } from '../http/operation.ts';
import { notFound } from '../http/problem.ts';
import { json } from '../http/reply.ts';
import { pathParameters } from '../http/schema.ts';
import { RunChanges } from './changes-schema.ts';
import { changesOf } from './changes.ts';

const changes = operation({
  method: 'get',
  path: '/api/v1/runs/{run_id}/changes',
  operationId: 'listRunChanges',
  summary: "Compare a run with the script's previous successful run",
  description:
    'Files and packages require the `files.read` right, settings and variables the `scripts.list` ' +
    'right, and secrets the `secrets.manage` right. Parts that the caller may not read are null.',
  tag: 'Runs',
  access: { right: 'runs.read' },
  parameters: { run_id: pathParameters.runId },
  responses: { 200: { description: 'The differences.', schema: RunChanges } },
  handle: async ({ principal, parameters: { run_id } }, services) => {
    const run = await visibleRun(principal, run_id, services.readModels);
    if (run === undefined) return notFound;
    return json(200, await changesOf(principal, run, services));
  },
});

export const runChangesOperations: readonly Operation[] = [changes];
