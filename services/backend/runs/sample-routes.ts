/** Returns the resource samples of runs (contract §3, "Run"). */
import { visibleRun } from '../access/visibility.ts';
import { operation, type Operation } from '../http/operation.ts';
import { notFound } from '../http/problem.ts';
import { json } from '../http/reply.ts';
import { pathParameters } from '../http/schema.ts';
import { RunSampleItems } from './schema.ts';
import { sampleJson } from './view.ts';

const readSamples = operation({
  method: 'get',
  path: '/api/v1/runs/{run_id}/samples',
  operationId: 'readRunSamples',
  summary: 'Read the resource usage of a run, oldest sample first',
  description:
    'Each sample is the total over all processes of the run, taken about once a second. CPU time ' +
    'is cumulative. For long runs, neighboring samples are merged into at most 2048 points. A merged point has the ' +
    'highest memory usage and the highest numbers of threads and processes of its samples. The WebSocket ' +
    '`/ws/runs/{run_id}` sends new samples as `{"type": "sample", …}`; ' +
    'this operation returns the earlier ones.',
  tag: 'Runs',
  access: { right: 'runs.read' },
  parameters: { run_id: pathParameters.runId },
  responses: { 200: { description: 'All samples.', schema: RunSampleItems } },
  handle: async ({ principal, parameters: { run_id } }, { readModels, runSamples }) => {
    if ((await visibleRun(principal, run_id, readModels)) === undefined) return notFound;
    return json(200, { items: (await runSamples.read(run_id)).map(sampleJson) });
  },
});

export const sampleOperations: readonly Operation[] = [readSamples];
