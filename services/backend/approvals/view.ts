/** Approvals as the API shows them. */
import type { Principal } from '#domain/kernel/actor.ts';
import { hasRightAnywhere } from '#domain/kernel/rights.ts';
import { hasOtherApprover, type ApprovalView } from '#projections/approvals/queries.ts';
import { isIn } from '../access/visibility.ts';
import type { Services } from '../services.ts';

export async function approvalsJson(
  rows: readonly ApprovalView[],
  principal: Principal,
  services: Services,
) {
  return await Promise.all(
    rows.map(async (row) => approvalJson(row, await canDecide(row, principal, services))),
  );
}

function approvalJson(row: ApprovalView, can_decide: boolean) {
  return {
    id: row.approval_id,
    kind: row.kind,
    subject: {
      run_id: row.approval_id,
      script_id: row.script_id,
      script_name: row.script_name,
      script_version: row.script_version,
    },
    requested_by: row.requested_by,
    requested_at: row.requested_at,
    expires_at: row.expires_at,
    status: row.status,
    decided_by: row.decided_by,
    decided_at: row.decided_at,
    can_decide,
  };
}

/** Applies the rules of the decision to the caller of the request. */
async function canDecide(
  { status, expires_at, group_id, requester_id }: ApprovalView,
  principal: Principal,
  { readModels, clock }: Services,
): Promise<boolean> {
  if (status !== 'pending' || expires_at <= clock.now()) return false;
  const mayStart = principal.token === undefined && hasRightAnywhere(principal, 'runs.start');
  if (!mayStart || !isIn(principal, group_id)) return false;
  if (requester_id === null) return principal.role === 'administrator';
  if (requester_id !== principal.userId) return true;
  return !(await hasOtherApprover(readModels, principal.userId, group_id));
}
