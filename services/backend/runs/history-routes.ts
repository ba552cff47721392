/** Lists a run's events with their reasons. */
import type { Recorded } from '#domain/aggregates.ts';
import type { RecordedEvent } from '#domain/kernel/event.ts';
import type { RunEvent } from '#domain/run/events.ts';
import { readStream } from '#infra/postgres/event-store/event-store.ts';
import { causingEvents, runsThatRepeat } from '#infra/postgres/event-store/run-causes.ts';
import { actorName } from '#projections/actors.ts';
import { answersToRun } from '#projections/chains/queries.ts';
import { visibleGroups, visibleRun } from '../access/visibility.ts';
import { occurrenceJson } from '../chains/view.ts';
import { operation, type Operation } from '../http/operation.ts';
import { notFound } from '../http/problem.ts';
import { json } from '../http/reply.ts';
import { pathParameters } from '../http/schema.ts';
import { RunEvents, RunReasons } from './history-schema.ts';
import { reasonOf } from './reasons.ts';

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
  responses: { 200: { description: 'All events of the run.', schema: RunEvents } },
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
  summary: 'List the reasons why a run was queued, delayed, released, retried or ended',
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
    case 'RunApprovalRequested':
      return 'approval_requested';
    case 'RunApproved':
      return 'approved';
    case 'RunRejected':
      return 'rejected';
    case 'RunApprovalExpired':
      return 'approval_expired';
    case 'RunApprovalWithdrawn':
      return 'approval_withdrawn';
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

export const runHistoryOperations: readonly Operation[] = [events, why];
