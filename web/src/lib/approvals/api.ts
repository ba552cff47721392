import { client, unwrap } from '#lib/api/client.ts';
import type { Approval, ChangeDiff, Page } from '#lib/api/types.ts';

export const approvalViews = ['pending', 'mine', 'all'] as const;
/** The requests that a list shows: pending requests, the user's own requests, or all requests. */
export type ApprovalView = (typeof approvalViews)[number];

/** Lists approval requests, newest first. */
export function listApprovals(view: ApprovalView, cursor: string | null): Promise<Page<Approval>> {
  const query = {
    limit: 50,
    ...(view === 'pending' ? { status: 'pending' as const } : {}),
    ...(view === 'mine' ? { mine: true } : {}),
    ...(cursor ? { cursor } : {}),
  };
  return unwrap(client.GET('/api/v1/approvals', { params: { query } }));
}

const approvalParams = (id: string) => ({ path: { approval_id: id } });

export function getApproval(id: string): Promise<Approval> {
  return unwrap(client.GET('/api/v1/approvals/{approval_id}', { params: approvalParams(id) }));
}

/** Approves a request. For a change, only the displayed revision is approved. */
export function approve({ id, change }: Approval): Promise<Approval> {
  const params = approvalParams(id);
  const body = change ? { revision: change.revision } : {};
  return unwrap(client.POST('/api/v1/approvals/{approval_id}/approve', { params, body }));
}

/** Rejects a request, or withdraws it if the user is the requester. */
export function reject({ id }: Approval): Promise<Approval> {
  return unwrap(
    client.POST('/api/v1/approvals/{approval_id}/reject', { params: approvalParams(id) }),
  );
}

/** Rebases an outdated change onto the current version of the script. */
export function rebase({ id }: Approval): Promise<Approval> {
  return unwrap(
    client.POST('/api/v1/approvals/{approval_id}/rebase', { params: approvalParams(id) }),
  );
}

/** Lists the pending changes to a script. */
export async function listChanges(scriptId: string): Promise<Approval[]> {
  const query = { status: 'pending' as const, script_id: scriptId, limit: 200 };
  const { items } = await unwrap(client.GET('/api/v1/approvals', { params: { query } }));
  return items.filter(({ kind }) => kind === 'save');
}

/** Returns the diff of a change, limited to the first 200 files. */
export function changeDiff(id: string): Promise<ChangeDiff> {
  const params = { ...approvalParams(id), query: { limit: 200 } };
  return unwrap(client.GET('/api/v1/approvals/{approval_id}/diff', { params }));
}
