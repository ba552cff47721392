import { client, unwrap } from '#lib/api/client.ts';
import type { Approval, Page } from '#lib/api/types.ts';

export const approvalViews = ['pending', 'mine', 'all'] as const;
/** The requests that a list shows: pending ones, those of the user, or all. */
export type ApprovalView = (typeof approvalViews)[number];

/** Lists requests, newest first. */
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

export function approve(id: string): Promise<Approval> {
  return unwrap(
    client.POST('/api/v1/approvals/{approval_id}/approve', { params: approvalParams(id) }),
  );
}

/** Rejects a request, or withdraws it if the user is the requester. */
export function reject(id: string): Promise<Approval> {
  return unwrap(
    client.POST('/api/v1/approvals/{approval_id}/reject', { params: approvalParams(id) }),
  );
}
