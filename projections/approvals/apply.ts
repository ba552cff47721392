import type { Recorded } from '#domain/aggregates.ts';
import type { ApprovalStatus } from '#domain/kernel/approval.ts';
import type { RunApprovalEvent } from '#domain/run/events.ts';
import type { ChangeEvent } from '#domain/script/events.ts';
import { actorName } from '../actors.ts';
import type { Projection } from '../projection.ts';
import { rowProjection } from '../rows.ts';
import { approvalColumns, type ApprovalsTable } from './table.ts';

type ApprovalRecorded = Recorded<RunApprovalEvent | ChangeEvent>;
type Row = Omit<ApprovalsTable, 'stream_version'>;

/** Builds one row per approval request. */
export const approvalsProjection: Projection = rowProjection<ApprovalsTable, ApprovalRecorded>({
  name: 'approvals',
  version: 2,
  table: 'approvals',
  key: 'approval_id',
  columns: approvalColumns,
  handles: [
    'RunApprovalRequested',
    'RunApproved',
    'RunRejected',
    'RunApprovalExpired',
    'RunApprovalWithdrawn',
    'ScriptChangeRequested',
    'ScriptChangeRevised',
    'ScriptChangeApproved',
    'ScriptChangeRejected',
    'ScriptChangeExpired',
    'ScriptChangeWithdrawn',
  ],
  keyOf: ({ data }) => ('changeId' in data ? data.changeId : data.runId),
  step: (row, event) => {
    switch (event.type) {
      case 'RunApprovalRequested': {
        const { runId, scriptVersion } = event.data;
        const about = { kind: 'run', script_version: scriptVersion, change: null } as const;
        return { ...requested(event), ...about, approval_id: runId };
      }
      case 'ScriptChangeRequested': {
        const { changeId, baseVersion, edits } = event.data;
        const change = { revision: 1, edits };
        const about = { kind: 'save', script_version: baseVersion, change } as const;
        return { ...requested(event), ...about, approval_id: changeId };
      }
      case 'ScriptChangeRevised': {
        const { baseVersion, revision, edits, expiresAt } = event.data;
        const change = { revision, edits };
        const expires_at = new Date(expiresAt);
        const by = isOfNewCommit(event) ? requester(event) : {};
        return row && { ...row, ...by, script_version: baseVersion, change, expires_at };
      }
      default:
        return row && ended(row, event);
    }
  },
});

/** Whether the revision contains the content of the commit that caused it. After a rebase, or after a commit that
 *  changes only other scripts, the revision still contains the content of an earlier commit. */
function isOfNewCommit({
  data: { edits },
  metadata: { actor },
}: Extract<ApprovalRecorded, { type: 'ScriptChangeRevised' }>): boolean {
  return (
    actor.kind === 'repository' &&
    edits.some((edit) => edit.type === 'SetScriptSource' && edit.source?.commit === actor.commit)
  );
}

function requester({
  metadata,
  recordedAt,
}: Pick<ApprovalRecorded, 'metadata' | 'recordedAt'>): Pick<Row, 'requested_by' | 'requested_at'> {
  return { requested_by: actorName(metadata.actor), requested_at: recordedAt };
}

function requested(
  event: Extract<ApprovalRecorded, { type: 'RunApprovalRequested' | 'ScriptChangeRequested' }>,
): Omit<Row, 'approval_id' | 'kind' | 'script_version' | 'change'> {
  const { data } = event;
  return {
    script_id: data.scriptId,
    script_name: data.scriptName,
    requester_id: data.requestedBy,
    ...requester(event),
    expires_at: new Date(data.expiresAt),
    status: 'pending',
    decider_id: null,
    decided_by: null,
    decided_at: null,
  };
}

type Ended = Exclude<
  ApprovalRecorded,
  { type: 'RunApprovalRequested' | 'ScriptChangeRequested' | 'ScriptChangeRevised' }
>;

const statuses: Readonly<Record<Ended['type'], ApprovalStatus>> = {
  RunApproved: 'approved',
  RunRejected: 'rejected',
  RunApprovalExpired: 'expired',
  RunApprovalWithdrawn: 'withdrawn',
  ScriptChangeApproved: 'approved',
  ScriptChangeRejected: 'rejected',
  ScriptChangeExpired: 'expired',
  ScriptChangeWithdrawn: 'withdrawn',
};

function ended(row: ApprovalsTable, { type, metadata: { actor }, recordedAt }: Ended): Row {
  const status = statuses[type];
  const isDecision = status !== 'expired';
  return {
    ...row,
    status,
    decider_id: isDecision && actor.kind === 'user' ? actor.userId : null,
    decided_by: isDecision ? actorName(actor) : null,
    decided_at: recordedAt,
  };
}
