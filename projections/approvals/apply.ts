import type { Recorded } from '#domain/aggregates.ts';
import type { ApprovalStatus } from '#domain/run/approval.ts';
import type { RunApprovalEvent } from '#domain/run/events.ts';
import { actorName } from '../actors.ts';
import type { Projection } from '../projection.ts';
import { rowProjection } from '../rows.ts';
import { approvalColumns, type ApprovalsTable } from './table.ts';

type ApprovalRecorded = Recorded<RunApprovalEvent>;

/** One row per request for an approval. */
export const approvalsProjection: Projection = rowProjection<ApprovalsTable, ApprovalRecorded>({
  name: 'approvals',
  version: 1,
  table: 'approvals',
  key: 'approval_id',
  columns: approvalColumns,
  handles: [
    'RunApprovalRequested',
    'RunApproved',
    'RunRejected',
    'RunApprovalExpired',
    'RunApprovalWithdrawn',
  ],
  keyOf: ({ data }) => data.runId,
  step: (row, event) => {
    if (event.type === 'RunApprovalRequested') return requested(event);
    return row && ended(row, event);
  },
});

function requested({
  data,
  metadata,
  recordedAt,
}: Extract<ApprovalRecorded, { type: 'RunApprovalRequested' }>): Omit<
  ApprovalsTable,
  'stream_version'
> {
  return {
    approval_id: data.runId,
    kind: 'run',
    script_id: data.scriptId,
    script_name: data.scriptName,
    script_version: data.scriptVersion,
    requester_id: data.requestedBy,
    requested_by: actorName(metadata.actor),
    requested_at: recordedAt,
    expires_at: new Date(data.expiresAt),
    status: 'pending',
    decider_id: null,
    decided_by: null,
    decided_at: null,
  };
}

const statuses: Readonly<
  Record<Exclude<RunApprovalEvent['type'], 'RunApprovalRequested'>, ApprovalStatus>
> = {
  RunApproved: 'approved',
  RunRejected: 'rejected',
  RunApprovalExpired: 'expired',
  RunApprovalWithdrawn: 'withdrawn',
};

function ended(
  row: ApprovalsTable,
  event: Exclude<ApprovalRecorded, { type: 'RunApprovalRequested' }>,
): ApprovalsTable {
  const { actor } = event.metadata;
  const isDecision = event.type !== 'RunApprovalExpired';
  return {
    ...row,
    status: statuses[event.type],
    decider_id: isDecision && actor.kind === 'user' ? actor.userId : null,
    decided_by: isDecision ? actorName(actor) : null,
    decided_at: event.recordedAt,
  };
}
