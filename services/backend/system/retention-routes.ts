/** Reads and changes the retention periods of data. */
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
  summary: 'Read the retention periods for run data',
  tag,
  access: { right: 'system.manage' },
  responses: { 200: { description: 'The settings.', schema: Retention } },
  handle: async (_call, { readModels }) =>
    json(200, retentionJson(await retentionSetting(readModels))),
});

const put = operation({
  method: 'put',
  path,
  operationId: 'changeRetention',
  summary: 'Change the retention periods',
  description:
    'Periods are counted from the end of a run. Expired data is permanently deleted within ' +
    "minutes. The run's " +
    '`removed` field lists what was deleted. Events are kept forever.',
  tag,
  access: { right: 'system.manage' },
  body: { schema: RetentionChanges, example: { logs_days: 90, samples_days: 30 } },
  responses: {
    200: { description: 'The settings.', schema: Retention, headers: ['Orch-Position'] },
  },
  handle: async ({ body, context }, { commands, readModels }) => {
    const command = { type: 'ChangeRetention', changes: changesOf(body) } as const;
    const outcome = accepted(await commands.execute(command, context));
    if (isProblem(outcome)) return outcome;
    return json(200, retentionJson(await retentionSetting(readModels)), positionHeader(outcome));
  },
});

export const retentionOperations: readonly Operation[] = [get, put];
