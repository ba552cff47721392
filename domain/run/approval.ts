/** Approvals for runs of protected scripts. */
import type { ApprovalRequest, ApprovalStatus } from '#domain/kernel/approval.ts';
import type { Trigger } from './run.ts';

/** The approval of a run. Absent if the run requires no approval. */
export type RunApproval =
  | (ApprovalRequest & { readonly status: 'pending' })
  | { readonly status: Exclude<ApprovalStatus, 'pending'> };

/** Whether a run of a protected script requires an approval. Automatic triggers are exempt, because only
 *  administrators can set them up for a protected script. Retries are exempt, because they repeat an approved run. */
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
