import type { Recorded } from '#domain/aggregates.ts';
import type {
  RunApprovalExpired,
  RunApprovalWithdrawn,
  RunEvent,
  RunRejected,
} from '#domain/run/events.ts';
import { defaultLimits } from '#domain/script/settings.ts';
import type { Projection } from '../projection.ts';
import { rowProjection } from '../rows.ts';
import { availableAt } from '../runs/apply.ts';
import { runQueueFill } from './fill.ts';
import { runQueueColumns, type RunQueueTable } from './table.ts';

/** The other events that end an approval need no handler, because `RunFinished` follows them. */
type QueueRecorded = Recorded<
  Exclude<RunEvent, RunRejected | RunApprovalExpired | RunApprovalWithdrawn>
>;

/** Builds the queue of waiting, queued and running runs. The row of a run is deleted when the run ends. */
export const runQueueProjection: Projection = {
  ...rowProjection<RunQueueTable, QueueRecorded>({
    name: 'run_queue',
    version: 1,
    table: 'run_queue',
    key: 'run_id',
    columns: runQueueColumns,
    kept: ['owner', 'lease_until', 'leased_at', 'queue_position'],
    handles: [
      'RunQueued',
      'RunApprovalRequested',
      'RunApproved',
      'RunReleased',
      'RunStarted',
      'RunStopRequested',
      'RunFinished',
    ],
    keyOf: (event) => event.data.runId,
    step: (row, event) => {
      if (event.type === 'RunQueued') {
        return {
          run_id: event.data.runId,
          script_id: event.data.scriptId,
          group_id: event.data.groupId,
          priority: 0,
          runs_on: event.data.runsOn ?? [],
          pools: event.data.pools ?? [],
          available_at: availableAt(event),
          // A run whose start time had already passed when it was queued is not delayed. Later clock changes do not
          // affect such a run.
          delayed: availableAt(event) > event.recordedAt,
          attempt: event.data.attempt,
          waiting: event.data.waiting ?? false,
          approval_pending: false,
          expires_at: expiresAt(event),
          fence: null,
          stop_requested: false,
        };
      }
      if (row === undefined) return undefined;
      switch (event.type) {
        case 'RunApprovalRequested':
          return { ...row, approval_pending: true };
        case 'RunApproved':
          return { ...row, approval_pending: false, expires_at: expiryAfterApproval(row, event) };
        case 'RunReleased':
          return { ...row, waiting: false };
        case 'RunStarted':
          return { ...row, fence: event.version };
        case 'RunStopRequested':
          return { ...row, stop_requested: true };
        case 'RunFinished':
          return undefined;
      }
    },
  }),
  fill: runQueueFill,
};

function expiresAt(event: Extract<Recorded<RunEvent>, { type: 'RunQueued' }>): Date | null {
  // Runs that were queued before this limit was introduced use its default value.
  const { queue_seconds: seconds } = { ...defaultLimits, ...event.data.limits };
  return seconds === null ? null : new Date(availableAt(event).getTime() + seconds * 1000);
}

/** The time until the approval does not count toward the maximum time in the queue. */
function expiryAfterApproval(
  { expires_at: expiry, available_at: available }: RunQueueTable,
  { recordedAt }: QueueRecorded,
): Date | null {
  return (
    expiry && new Date(expiry.getTime() + Math.max(0, recordedAt.getTime() - available.getTime()))
  );
}
