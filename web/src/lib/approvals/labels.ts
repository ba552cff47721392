import type { Approval } from '#lib/api/types.ts';
import type { Tone } from '#lib/ui/badge.svelte';
import type { ApprovalView } from './api.ts';

type Status = Approval['status'];

const statusLabels: Record<Status, string> = {
  pending: 'Pending',
  approved: 'Approved',
  rejected: 'Rejected',
  expired: 'Expired',
  withdrawn: 'Withdrawn',
};

export const statusTones: Record<Status, Tone> = {
  pending: 'warning',
  approved: 'success',
  rejected: 'danger',
  expired: 'neutral',
  withdrawn: 'neutral',
};

export const viewLabels: Record<ApprovalView, string> = {
  pending: 'Pending',
  mine: 'My requests',
  all: 'All',
};

export function statusLabel(status: Status): string {
  return statusLabels[status];
}

export function requestTitle({
  kind,
  change,
  subject: { script_name: name },
}: Pick<Approval, 'kind' | 'change' | 'subject'>): string {
  if (kind === 'run') return `Run of ${name}`;
  return change?.restores === true ? `Restore of ${name}` : `Change to ${name}`;
}

/** Explains in one sentence why the user cannot approve a pending request. */
export function undecidableReason(kind: Approval['kind'], isOwn: boolean, may: boolean): string {
  const subject = kind === 'run' ? 'run' : 'change';
  if (isOwn) return `Another user must approve the ${subject}.`;
  if (may) return 'Only an administrator can decide, because the requester is unknown.';
  return kind === 'run'
    ? 'A user who may start runs of this script must approve the run.'
    : 'A user who may change this script must approve the change.';
}
