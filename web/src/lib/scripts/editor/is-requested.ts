import { ApprovalRequested } from '#lib/api/approval-requested.ts';
import { toastRequested } from '#lib/ui/toasts.ts';

/** Whether the change requires approval. If so, a message informs the user. */
export async function isRequested(change: Promise<unknown>): Promise<boolean> {
  try {
    await change;
    return false;
  } catch (error) {
    if (!(error instanceof ApprovalRequested)) throw error;
    toastRequested();
    return true;
  }
}
