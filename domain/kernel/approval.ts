/** Approvals. A second user approves or rejects a requested run or change of a protected script. */
import type { UserId } from './ids.ts';

export const approvalStatuses = [
  'pending',
  'approved',
  'rejected',
  'expired',
  'withdrawn',
] as const;
export type ApprovalStatus = (typeof approvalStatuses)[number];

/** A pending request expires after this number of seconds. */
export const approvalSeconds = 7 * 24 * 3600;

export interface ApprovalRequest {
  /** `null` if the requester is unknown, such as the sender of a webhook request. */
  readonly requestedBy: UserId | null;
  /** In RFC 3339 format, in UTC with milliseconds. */
  readonly expiresAt: string;
}

/** The user who decides an approval. */
export interface Approver {
  readonly userId: UserId;
  readonly isAdministrator: boolean;
}

export function hasExpired({ expiresAt }: Pick<ApprovalRequest, 'expiresAt'>, at: string): boolean {
  return at >= expiresAt;
}
