/** What happened to a run, and why. */
import type { Recorded } from '#domain/aggregates.ts';
import type { RecordedEvent } from '#domain/kernel/event.ts';
import type { RunEvent } from '#domain/run/events.ts';
import type { Trigger } from '#domain/run/run.ts';
import { actorName } from '#projections/actors.ts';
import { answersToRun } from '#projections/chains/queries.ts';
import { readStream } from '#infra/postgres/event-store/event-store.ts';
import { operation, type Operation } from '../http/operation.ts';
import { notFound } from '../http/problem.ts';
import { json } from '../http/reply.ts';
import { pathParameters } from '../http/schema.ts';
import { RunEvents, RunReasons } from './history-schema.ts';
import { causingEvents, runsThatRepeat } from '#infra/postgres/event-store/run-causes.ts';
import { occurrenceJson } from '../chains/routes.ts';
import { visibleGroups, visibleRun } from '../access/visibility.ts';

const tag = 'Runs';
const parameters = { run_id: pathParameters.runId };

const events = operation({
  method: 'get',
  path: '/api/v1/runs/{run_id}/events',
  operationId: 'listRunEvents',
  summary: 'List the events of a run, oldest first',
  tag,
  access: { right: 'runs.read' },
  parameters,
  responses: { 200: { description: 'All of them; a run has few.', schema: RunEvents } },
  handle: async ({ principal, parameters: { run_id } }, { database, readModels }) => {
    if ((await visibleRun(principal, run_id, readModels)) === undefined) return notFound;
    const recorded = await readStream(database, `run-${run_id}`, 1);
    return json(200, { items: recorded.map(eventJson) });
  },
});

const why = operation({
  method: 'get',
  path: '/api/v1/runs/{run_id}/why',
  operationId: 'explainRun',
  summary: 'Say which decisions queued, held, released, retried or ended a run',
  tag,
  access: { right: 'runs.read' },
  parameters,
  responses: { 200: { description: 'The decisions, oldest first.', schema: RunReasons } },
  handle: async ({ principal, parameters: { run_id } }, { database, readModels }) => {
    if ((await visibleRun(principal, run_id, readModels)) === undefined) return notFound;
    const recorded = (await readStream(
      database,
      `run-${run_id}`,
      1,
    )) as readonly Recorded<RunEvent>[];
    const [causes, followedBy, answers] = await Promise.all([
      causingEvents(database, recorded),
      runsThatRepeat(database, run_id),
      answersToRun(readModels, run_id, visibleGroups(principal)),
    ]);
    const chained = answers.map((one) => ({ chain_id: one.chain_id, ...occurrenceJson(one) }));
    const items = recorded.map((event) => {
      const cause = causes.get(event.metadata.causationId ?? '');
      return {
        decision: decisionOf(event),
        reason: reasonOf(event),
        event: eventJson(event),
        cause: cause === undefined ? null : eventJson(cause),
      };
    });
    return json(200, { run_id, items, followed_by: followedBy, chained });
  },
});

function eventJson(event: RecordedEvent) {
  const { metadata } = event;
  return {
    event_id: event.eventId,
    position: event.position.globalPosition,
    stream: event.streamId,
    version: event.version,
    type: event.type,
    time: event.recordedAt,
    actor: actorName(metadata.actor),
    correlation_id: metadata.correlationId,
    causation_id: metadata.causationId,
    data: event.data,
  };
}

function decisionOf(event: Recorded<RunEvent>) {
  switch (event.type) {
    case 'RunQueued':
      return event.data.waiting ? 'held' : 'queued';
    case 'RunReleased':
      return 'released';
    case 'RunStarted':
      return 'started';
    case 'RunStopRequested':
      return 'stop_requested';
    case 'RunFinished':
      return 'ended';
  }
}

/** One sentence for a person. */
export function reasonOf(event: Recorded<RunEvent>): string {
  const actor = actorName(event.metadata.actor);
  switch (event.type) {
    case 'RunQueued':
      return `${queuedBy(event, actor)}${waitOf(event)}`;
    case 'RunReleased':
      return 'Its time had come and the script had a slot.';
    case 'RunStarted':
      return `The runtime ${event.data.runtimeId} had it ready.`;
    case 'RunStopRequested':
      return `${actor} asked it to stop.`;
    case 'RunFinished':
      return endedBy(event, actor);
  }
}

type Queued = Extract<Recorded<RunEvent>, { type: 'RunQueued' }>;

function queuedBy({ data: { trigger, attempt, scriptVersion } }: Queued, actor: string): string {
  switch (trigger.type) {
    case 'retry':
      return `Run ${trigger.runId} failed, and the retry policy allows attempt ${attempt}.`;
    case 'rerun':
      return `${actor} ran ${trigger.runId} again, at version ${scriptVersion}.`;
    case 'schedule':
      return `Schedule ${trigger.scheduleId} was due at ${trigger.dueAt} (${trigger.outcome}).`;
    case 'event':
      return causedBy(trigger, scriptVersion);
    case 'manual':
    case 'api':
    case 'webhook':
    case 'mcp':
    case 'queue':
      return `${actor} asked for it (trigger ${trigger.type}), at version ${scriptVersion}.`;
  }
}

function causedBy(trigger: Extract<Trigger, { type: 'event' }>, scriptVersion: number): string {
  switch (trigger.cause) {
    case 'keep_alive':
      return 'The script is to be kept alive and had no run.';
    case 'script':
      return `Run ${trigger.runId} asked for it, at version ${scriptVersion}.`;
    case 'chain':
      return `Run ${trigger.runId} had ended, and chain ${trigger.chainId} leads here (depth ${trigger.depth}).`;
  }
}

function waitOf({ data: { waiting, notBefore, trigger } }: Queued): string {
  if (notBefore !== undefined) return ` It waits until ${notBefore} and for a slot.`;
  if (!waiting) return '';
  return trigger.type === 'schedule' && trigger.afterPrevious
    ? ' It waits for the run before of the schedule, or for a slot.'
    : ' It waits: the script had no free slot, or others waited already.';
}

function endedBy(
  { data }: Extract<Recorded<RunEvent>, { type: 'RunFinished' }>,
  actor: string,
): string {
  if (data.outcome === 'success') return 'The script ended by itself, with exit code 0.';
  if (data.outcome === 'stopped') return `It was stopped; ${actor} reported it.`;
  if (data.outcome !== 'exit_code') return `It failed: ${data.outcome}; ${actor} reported it.`;
  return data.signal === null
    ? `The script ended by itself, with exit code ${data.exitCode}.`
    : `The script was ended by ${data.signal}.`;
}

export const runHistoryOperations: readonly Operation[] = [events, why];
