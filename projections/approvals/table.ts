import type { ApprovalStatus } from '#domain/kernel/approval.ts';
import type { Edit } from '#domain/script/commands.ts';
import type { Columns } from '../columns.ts';

/** The edits of a requested change. */
export interface RequestedChange {
  readonly revision: number;
  readonly edits: readonly Edit[];
}

/** An approval request. It has the ID of its run or change. */
export interface ApprovalsTable {
  readonly approval_id: string;
  readonly stream_version: number;
  readonly kind: 'run' | 'save';
  readonly script_id: string;
  /** The script's name when the approval was requested. */
  readonly script_name: string;
  /** The script version that the run executes, or to which the change applies. */
  readonly script_version: number;
  /** `null` if a run requires the approval. */
  readonly change: RequestedChange | null;
  /** `null` if the requester is unknown. */
  readonly requester_id: string | null;
  readonly requested_by: string;
  readonly requested_at: Date;
  readonly expires_at: Date;
  readonly status: ApprovalStatus;
  /** `null` if the request is pending, or if it ended without a user's decision. */
  readonly decider_id: string | null;
  readonly decided_by: string | null;
  readonly decided_at: Date | null;
}

export const approvalColumns: Columns<ApprovalsTable> = {
  approval_id: 'uuid',
  stream_version: 'bigint',
  kind: 'text',
  script_id: 'uuid',
  script_name: 'text',
  script_version: 'integer',
  change: 'jsonb',
  requester_id: 'uuid',
  requested_by: 'text',
  requested_at: 'timestamptz',
  expires_at: 'timestamptz',
  status: 'text',
  decider_id: 'uuid',
  decided_by: 'text',
  decided_at: 'timestamptz',
};
