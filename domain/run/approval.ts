/** Approvals of runs: a second person approves or rejects a requested run of a protected script. */
import type { UserId } from '#domain/kernel/ids.ts';
import type { Trigger } from './run.ts';

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

/** The approval of a run. Absent if the run needs no approval. */
export type RunApproval =
  | (ApprovalRequest & { readonly status: 'pending' })
  | { readonly status: Exclude<ApprovalStatus, 'pending'> };

/** Whether a run of a protected script needs an approval. Exempt are automatic triggers, which only administrators set
 *  up for a protected script, and retries, because they repeat an approved run. */
export function needsApproval(trigger: Trigger): boolean {
  switch (trigger.type) {
    case 'schedule':
      return trigger.outcome === 'backfilled';
    case 'event':
      return trigger.cause === 'script';
    case 'retry':
      return false;
    case 'manual':
    case 'api':
    case 'webhook':
    case 'rerun':
    case 'mcp':
    case 'queue':
      return true;
  }
}
