/** Formats approvals for API responses. */
import type { Principal } from '#domain/kernel/actor.ts';
import { hasRightAnywhere } from '#domain/kernel/rights.ts';
import type { ChangeId } from '#domain/kernel/ids.ts';
import { restores } from '#domain/script/change.ts';
import {
  findApproval,
  hasOtherApprover,
  type ApprovalView,
} from '#projections/approvals/queries.ts';
import { isIn } from '../access/visibility.ts';
import { positionHeader, type Accepted } from '../http/outcome.ts';
import { notFound } from '../http/problem.ts';
import { json, type Answer } from '../http/reply.ts';
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
      run_id: row.kind === 'run' ? row.approval_id : null,
      script_id: row.script_id,
      script_name: row.script_name,
      script_version: row.script_version,
    },
    change: row.change && {
      revision: row.change.revision,
      restores: restores(row.change.edits),
      outdated: row.status === 'pending' && row.script_version !== row.current_version,
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

/** Whether the caller may approve or reject the request. */
async function canDecide(
  { kind, status, expires_at, group_id, requester_id }: ApprovalView,
  principal: Principal,
  { readModels, clock }: Services,
): Promise<boolean> {
  if (status !== 'pending' || expires_at <= clock.now()) return false;
  const mayDecide = principal.token === undefined && hasRightAnywhere(principal, rightOf[kind]);
  if (!mayDecide || !isIn(principal, group_id)) return false;
  if (requester_id === null) return principal.role === 'administrator';
  if (requester_id !== principal.userId) return true;
  return !(await hasOtherApprover(readModels, principal.userId, group_id, kind));
}

/** The right required to decide on each kind of approval. */
export const rightOf = { run: 'runs.start', save: 'scripts.write' } as const;

/** The response to an edit that awaits approval. */
export async function requestedReply(
  { changeId, outcome }: { readonly changeId: ChangeId; readonly outcome: Accepted },
  { principal }: { readonly principal: Principal },
  services: Services,
): Promise<Answer> {
  const row = await findApproval(services.readModels, changeId);
  return row === undefined
    ? notFound
    : await approvalReply(202, row, principal, services, positionHeader(outcome));
}

export async function approvalReply(
  status: 200 | 202,
  row: ApprovalView,
  principal: Principal,
  services: Services,
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  const [item] = await approvalsJson([row], principal, services);
  return json(status, item, headers);
}
