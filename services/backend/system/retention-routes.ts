/** How long things are kept. */
import { retentionSetting } from '#projections/retention/queries.ts';
import { operation, type Operation } from '../http/operation.ts';
import { accepted, positionHeader } from '../http/outcome.ts';
import { isProblem } from '../http/problem.ts';
import { json } from '../http/reply.ts';
import { Retention, RetentionChanges } from './schema.ts';
import { changesOf, retentionJson } from './view.ts';

const tag = 'System';
const path = '/api/v1/system/retention';

const get = operation({
  method: 'get',
  path,
  operationId: 'getRetention',
  summary: 'How long the logs, samples, artifacts and parameters of runs are kept',
  tag,
  access: { right: 'system.manage' },
  responses: { 200: { description: 'The setting.', schema: Retention } },
  handle: async (_call, { readModels }) =>
    json(200, retentionJson(await retentionSetting(readModels))),
});

const put = operation({
  method: 'put',
  path,
  operationId: 'changeRetention',
  summary: 'Set how long things are kept',
  description:
    'Counted from the end of a run; what is older goes within the next minutes, for good. A run says in `removed` what is no longer kept of it. Events are kept for ever.',
  tag,
  access: { right: 'system.manage' },
  body: { schema: RetentionChanges, example: { logs_days: 90, samples_days: 30 } },
  responses: {
    200: { description: 'The setting.', schema: Retention, headers: ['Orch-Position'] },
  },
  handle: async ({ body, context }, { commands, readModels }) => {
    const command = { type: 'ChangeRetention', changes: changesOf(body) } as const;
    const outcome = accepted(await commands.execute(command, context));
    if (isProblem(outcome)) return outcome;
    return json(200, retentionJson(await retentionSetting(readModels)), positionHeader(outcome));
  },
});

export const retentionOperations: readonly Operation[] = [get, put];
