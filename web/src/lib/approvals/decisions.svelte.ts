import { queryClient } from '#lib/api/query-client.ts';
import type { Approval } from '#lib/api/types.ts';
import { session } from '#lib/session/session.svelte.ts';
import { toastDone, toastError } from '#lib/ui/toasts.ts';
import { approve, rebase, reject } from './api.ts';
import { statusLabel } from './labels.ts';

interface Decision {
  label: 'Approve' | 'Reject' | 'Withdraw' | 'Rebase';
  run: () => void;
}

/** Whether the user is the requester. */
export function isOwn({ requested_by }: Approval): boolean {
  return requested_by === session.user?.email;
}

/** The user's decisions on approval requests. */
export class Decisions {
  busy = $state(false);

  /** The decisions available to the user, the most likely one first. */
  itemsOf(approval: Approval): Decision[] {
    if (approval.status !== 'pending') return [];
    const decide = (work: typeof approve) => () => void this.#decide(approval, work);
    const right = approval.kind === 'run' ? 'runs.start' : 'scripts.write';
    const canWithdraw = isOwn(approval) && session.may(right);
    const isOutdated = approval.change?.outdated === true;
    return [
      ...(isOutdated && session.may('scripts.write')
        ? [{ label: 'Rebase' as const, run: decide(rebase) }]
        : []),
      ...(approval.can_decide && !isOutdated
        ? [{ label: 'Approve' as const, run: decide(approve) }]
        : []),
      ...(canWithdraw ? [{ label: 'Withdraw' as const, run: decide(reject) }] : []),
      ...(approval.can_decide && !canWithdraw
        ? [{ label: 'Reject' as const, run: decide(reject) }]
        : []),
    ];
  }

  async #decide(approval: Approval, work: typeof approve): Promise<void> {
    if (this.busy) return;
    this.busy = true;
    try {
      const { status } = await work(approval);
      toastDone(
        status === 'pending' ? 'Change rebased' : `Request ${statusLabel(status).toLowerCase()}`,
      );
    } catch (error) {
      toastError('Could not update the request', error);
    } finally {
      this.busy = false;
      await queryClient.invalidateQueries({ queryKey: ['approvals'] });
    }
  }
}
