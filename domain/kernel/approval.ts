/** Approvals: a second person approves or rejects a requested run or change of a protected script. */
import type { UserId } from './ids.ts';

export const approvalStatuses = [
  'pending',
  'approved',
  'rejected',
  'expired',
  'withdrawn',
] as const;
export type ApprovalStatus = (typeof approvalStatuses)[number];

/** A pending request expires after this time. */
export const approvalSeconds = 7 * 24 * 3600;

export interface ApprovalRequest {
  /** `null`: the requester is unknown, for example the sender of a webhook request. */
  readonly requestedBy: UserId | null;
  /** RFC 3339, in UTC with milliseconds. */
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
