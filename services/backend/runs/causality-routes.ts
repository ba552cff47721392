/** Returns the triggers and effects of a run. */
import type { Principal } from '#domain/kernel/actor.ts';
import { actorName } from '#projections/actors.ts';
import { auditProjection } from '#projections/audit/apply.ts';
import { isIn, visibleRun } from '../access/visibility.ts';
import { operation, type Operation } from '../http/operation.ts';
import { notFound } from '../http/problem.ts';
import { json } from '../http/reply.ts';
import { pathParameters } from '../http/schema.ts';
import { causesOf, effectsOf, type Effect, type Queued } from './causality.ts';
import { RunCauses } from './history-schema.ts';
import { reasonOf } from './reasons.ts';

const causes = operation({
  method: 'get',
  path: '/api/v1/runs/{run_id}/causes',
  operationId: 'traceRun',
  summary: 'Read the upstream runs and downstream effects of a run',
  description:
    'Upstream runs led to this run through retries, reruns, chains or requests by other scripts, back to the ' +
    'schedule, webhook or user that started the first run. Downstream effects are runs, ' +
    'notifications, and chains that did not start a run. Items of groups that the caller cannot ' +
    'access are omitted. New events appear with a short delay.',
  tag: 'Runs',
  access: { right: 'runs.read' },
  parameters: { run_id: pathParameters.runId },
  responses: {
    200: {
      description: 'The upstream causes and the downstream effects, nearest first.',
      schema: RunCauses,
    },
  },
  readsBehind: [auditProjection.name],
  handle: async ({ principal, parameters: { run_id } }, { database, readModels }) => {
    if ((await visibleRun(principal, run_id, readModels)) === undefined) return notFound;
    const [upwards, downwards] = await Promise.all([
      causesOf(database, run_id),
      effectsOf(readModels, run_id),
    ]);
    return json(200, {
      run_id,
      causes: upwards.filter(({ data }) => isIn(principal, data.groupId)).map(causeJson),
      effects: downwards
        .filter(({ entry }) => entry.group_id !== null && isIn(principal, entry.group_id))
        .map((effect) => effectJson(principal, effect)),
    });
  },
});

function causeJson(queued: Queued) {
  const { data, metadata, position, recordedAt } = queued;
  const { trigger } = data;
  return {
    run_id: data.runId,
    script_id: data.scriptId,
    script_name: data.scriptName,
    trigger_type: trigger.type,
    schedule_id: 'scheduleId' in trigger ? trigger.scheduleId : null,
    webhook_id: 'webhookId' in trigger ? trigger.webhookId : null,
    chain_id: 'chainId' in trigger ? trigger.chainId : null,
    reason: reasonOf(queued),
    time: recordedAt,
    actor: actorName(metadata.actor),
    event_position: position.globalPosition,
  };
}

function effectJson(principal: Principal, { entry, depth, script }: Effect) {
  // Hides the script that a chain started if the caller cannot see that script's group.
  const shown = script !== undefined && isIn(principal, script.group_id) ? script : undefined;
  return {
    depth,
    caused_by: entry.caused_by,
    action: entry.action,
    resource: entry.resource,
    script_id: shown?.script_id ?? null,
    script_name: shown?.name ?? null,
    detail: entry.detail,
    time: entry.time,
    actor: entry.actor,
    event_position: entry.event_position,
  };
}

export const runCausalityOperations: readonly Operation[] = [causes];
