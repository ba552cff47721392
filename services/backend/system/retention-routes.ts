/** How long things are kept. */
import type { Retention as Setting } from '#domain/system/retention.ts';
import { retentionSetting } from '#projections/retention/queries.ts';
import type { Static } from 'typebox';
import { operation, type Operation } from '../http/operation.ts';
import { isProblem } from '../http/problem.ts';
import { json } from '../http/reply.ts';
import { Retention, RetentionChanges } from './schema.ts';
import { accepted, positionHeader } from '../http/outcome.ts';

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

/** The setting as a command changes it. */
export function changesOf(body: Static<typeof RetentionChanges>): Partial<Setting> {
  const { logs_days, samples_days, artifacts_days, payloads_days } = body;
  return {
    ...(logs_days !== undefined && { logsDays: logs_days }),
    ...(samples_days !== undefined && { samplesDays: samples_days }),
    ...(artifacts_days !== undefined && { artifactsDays: artifacts_days }),
    ...(payloads_days !== undefined && { payloadsDays: payloads_days }),
  };
}

type Row = Awaited<ReturnType<typeof retentionSetting>>;

/** The setting itself, without who changed it. */
export function daysOf(setting: Row) {
  return {
    logs_days: setting?.logs_days ?? null,
    samples_days: setting?.samples_days ?? null,
    artifacts_days: setting?.artifacts_days ?? null,
    payloads_days: setting?.payloads_days ?? null,
  };
}

function retentionJson(setting: Row) {
  return {
    ...daysOf(setting),
    changed_at: setting?.changed_at ?? null,
    changed_by: setting?.changed_by ?? null,
  };
}

export const retentionOperations: readonly Operation[] = [get, put];
