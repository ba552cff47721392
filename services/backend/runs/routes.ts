/** Starts, stops, lists and reads runs. */
import { runStatuses, triggerTypes } from '#domain/run/run.ts';
import { findRuns } from '#projections/runs/queries.ts';
import { runOrders, sortedAtMost } from '#projections/runs/sorted.ts';
import Type from 'typebox';
import { visibleRun, canSeeScript } from '../access/visibility.ts';
import { operation, type Call, type Operation, type ResponseRule } from '../http/operation.ts';
import { positionHeader } from '../http/outcome.ts';
import { isProblem, notFound } from '../http/problem.ts';
import { json, type Reply } from '../http/reply.ts';
import { pageQuery, pathParameters, Uuid } from '../http/schema.ts';
import { IdOrNot, SomeOf } from '../http/selection.ts';
import type { Services } from '../services.ts';
import { runPage } from './list.ts';
import { queueRun, type Queued } from './queue-run.ts';
import { rerunRun } from './rerun-run.ts';
import { Run, RunItems, RunPage, RunRequest, RerunRequest, StopRequest } from './schema.ts';
import { stopOne, stopScript, type Stopped } from './stop-runs.ts';
import { runsJson } from './view.ts';
import { untilFinished, waitSecondsOf } from './wait-for-run.ts';

const tag = 'Runs';

const filters = {
  ...pageQuery,
  status: Type.Optional(SomeOf(runStatuses, 'Status')),
  trigger: Type.Optional(SomeOf(triggerTypes, 'What started the run')),
  trigger_type: Type.Optional(SomeOf(triggerTypes, 'Alias of `trigger`')),
  from: Type.Optional(
    Type.String({ format: 'date-time', description: 'Only runs queued at or after this time.' }),
  ),
  to: Type.Optional(
    Type.String({ format: 'date-time', description: 'Only runs queued before this time.' }),
  ),
  q: Type.Optional(
    Type.String({
      maxLength: 200,
      description:
        "Matches part of the script's current name, part of the error's type and message (from 3 " +
        'characters), or the start of the run ID (from 8 characters). Case-insensitive.',
    }),
  ),
  error_group_id: Type.Optional(Uuid('ID of the error group.')),
  sort: Type.Optional(
    Type.Enum([...runOrders], {
      description:
        'Sort order. Default: newest first. A leading `-` sorts in descending order. Runs without a value are ' +
        `last. Only the ${sortedAtMost.toLocaleString('en')} newest matching runs are sorted and listed; narrow ` +
        'the time range to list others.',
    }),
  ),
};

const queuedResponses: Readonly<Record<number, ResponseRule>> = {
  202: {
    description: 'The run is queued.',
    schema: Run,
    headers: ['Location', 'Orch-Position', 'Preference-Applied'],
  },
  200: {
    description: 'The run ended within the time given by `Prefer`.',
    schema: Run,
    headers: ['Location', 'Orch-Position', 'Preference-Applied'],
  },
};

const run = operation({
  method: 'post',
  path: '/api/v1/runs/scripts/{id}/run',
  aliases: [{ path: '/api/v1/scripts/{id}/run' }],
  operationId: 'runScript',
  summary: 'Start a run of a script',
  tag,
  access: { right: 'runs.start' },
  creates: true,
  parameters: { id: pathParameters.scriptId },
  requestHeaders: ['Prefer', 'Orch-Client'],
  body: { schema: RunRequest, example: { params: { limit: 10 } }, optional: true },
  responses: queuedResponses,
  refusals: ['script_disabled', 'concurrency_limit_reached'],
  ahead: ({ id }, services) => services.findRunnable(id),
  handle: async (call, services) => {
    const queued = await queueRun(call, services);
    return isProblem(queued) ? queued : await queuedReply(queued, call, services);
  },
});

/** Responds with the queued run, or with the finished run if the client waits. */
async function queuedReply(
  { run: queued, outcome }: Queued,
  call: Pick<Call, 'header' | 'gone'>,
  services: Services,
): Promise<Reply> {
  const waitSeconds = waitSecondsOf(call.header('Prefer'));
  const row =
    waitSeconds === 0 ? queued : await untilFinished(queued, waitSeconds, services, call.gone());
  const [body] = await runsJson([row], services);
  return json(row.finished_at !== null && waitSeconds > 0 ? 200 : 202, body, {
    Location: `/api/v1/runs/${row.run_id}`,
    ...(waitSeconds > 0 && { 'Preference-Applied': `wait=${waitSeconds}` }),
    ...positionHeader(outcome),
  });
}

const rerun = operation({
  method: 'post',
  path: '/api/v1/runs/{run_id}/rerun',
  operationId: 'rerunRun',
  summary: 'Rerun a run with the same parameters',
  description:
    'The new run has the trigger `rerun`. With `version: "same"`, it uses exactly the version, ' +
    'entry point, ' +
    'limits, environment and secret versions of the original run. With `"latest"`, it uses the ' +
    'current script.',
  tag,
  access: { right: 'runs.start' },
  creates: true,
  parameters: { run_id: pathParameters.runId },
  requestHeaders: ['Prefer'],
  body: { schema: RerunRequest, example: { version: 'same' } },
  responses: queuedResponses,
  refusals: ['script_disabled', 'concurrency_limit_reached', 'params_removed'],
  handle: async (call, services) => {
    const queued = await rerunRun(call, services);
    return isProblem(queued) ? queued : await queuedReply(queued, call, services);
  },
});

const stopAll = operation({
  method: 'post',
  path: '/api/v1/runs/scripts/{id}/stop',
  aliases: [{ path: '/api/v1/scripts/{id}/stop' }],
  operationId: 'stopScriptRuns',
  summary: 'Stop all active runs of a script, or a single run',
  tag,
  access: { right: 'runs.stop' },
  parameters: { id: pathParameters.scriptId },
  body: { schema: StopRequest, example: {}, optional: true },
  responses: {
    202: {
      description: 'The request was accepted. Active processes are being stopped.',
      schema: RunItems,
      headers: ['Orch-Position'],
    },
  },
  refusals: ['run_not_active'],
  handle: async (call, services) => {
    const stopped = await stopScript(call, services);
    return isProblem(stopped) ? stopped : await stoppedReply(stopped, services);
  },
});

const stop = operation({
  method: 'post',
  path: '/api/v1/runs/{run_id}/stop',
  operationId: 'stopRun',
  summary: 'Stop a run',
  description:
    'A queued run stops immediately. A running run gets SIGTERM, and SIGKILL after 10 seconds.',
  tag,
  access: { right: 'runs.stop' },
  parameters: { run_id: pathParameters.runId },
  body: { schema: Type.Object({}, { additionalProperties: false }), example: {}, optional: true },
  responses: {
    202: {
      description: 'The request was accepted. Active processes are being stopped.',
      schema: RunItems,
      headers: ['Orch-Position'],
    },
  },
  refusals: ['run_not_active'],
  handle: async (call, services) => {
    const stopped = await stopOne(call.parameters.run_id, call, services);
    return isProblem(stopped) ? stopped : await stoppedReply(stopped, services);
  },
});

async function stoppedReply({ runIds, last }: Stopped, services: Services): Promise<Reply> {
  const rows = await findRuns(services.readModels, runIds);
  return json(202, { items: await runsJson(rows, services) }, positionHeader(last));
}

const list = operation({
  method: 'get',
  path: '/api/v1/runs',
  operationId: 'listRuns',
  summary: 'List runs, newest first',
  tag,
  access: { right: 'runs.read' },
  query: Type.Object(
    {
      ...filters,
      script_id: Type.Optional(IdOrNot('script')),
      group_id: Type.Optional(IdOrNot('group')),
    },
    { additionalProperties: false },
  ),
  responses: { 200: { description: 'One page of the list.', schema: RunPage, headers: ['Link'] } },
  handle: (call, services) => runPage('runs', call, services),
});

const history = operation({
  method: 'get',
  path: '/api/v1/runs/scripts/{id}/runs',
  aliases: [{ path: '/api/v1/scripts/{id}/runs' }],
  operationId: 'listScriptRuns',
  summary: 'List the runs of a script, newest first',
  tag,
  access: { right: 'runs.read' },
  parameters: { id: pathParameters.scriptId },
  query: Type.Object(filters, { additionalProperties: false }),
  responses: { 200: { description: 'One page of the list.', schema: RunPage, headers: ['Link'] } },
  handle: async (call, services) => {
    const { id } = call.parameters;
    if (!(await canSeeScript(call.principal, id, services.readModels))) return notFound;
    return await runPage(
      'script runs',
      { ...call, query: { ...call.query, script_id: id } },
      services,
    );
  },
});

const get = operation({
  method: 'get',
  path: '/api/v1/runs/{run_id}',
  operationId: 'getRun',
  summary: 'Read a run',
  tag,
  access: { right: 'runs.read' },
  parameters: { run_id: pathParameters.runId },
  responses: { 200: { description: 'The run.', schema: Run } },
  handle: async ({ principal, parameters: { run_id } }, services) => {
    const row = await visibleRun(principal, run_id, services.readModels);
    if (row === undefined) return notFound;
    const [body] = await runsJson([row], services);
    return json(200, body);
  },
});

export const runOperations: readonly Operation[] = [run, rerun, stopAll, stop, list, history, get];
