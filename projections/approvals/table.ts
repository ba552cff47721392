import type { ApprovalStatus } from '#domain/run/approval.ts';
import type { Columns } from '../columns.ts';

/** A request for an approval. The ID is the ID of its run. */
export interface ApprovalsTable {
  readonly approval_id: string;
  readonly stream_version: number;
  readonly kind: 'run';
  readonly script_id: string;
  /** The name and version of the script at the time of the request. */
  readonly script_name: string;
  readonly script_version: number;
  /** `null`: the requester is unknown. */
  readonly requester_id: string | null;
  readonly requested_by: string;
  readonly requested_at: Date;
  readonly expires_at: Date;
  readonly status: ApprovalStatus;
  /** `null`: pending, or ended without a decision of a user. */
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
  requester_id: 'uuid',
  requested_by: 'text',
  requested_at: 'timestamptz',
  expires_at: 'timestamptz',
  status: 'text',
  decider_id: 'uuid',
  decided_by: 'text',
  decided_at: 'timestamptz',
};
