import { toast } from 'svelte-sonner';
import { ApiError, messageOf } from '#lib/api/api-error.ts';
import { ApprovalRequested } from '#lib/api/approval-requested.ts';
import { queryClient } from '#lib/api/query-client.ts';

/** Shows why an action failed, or that the action is waiting for approval. */
export function toastError(action: string, error: unknown): void {
  // The session has ended, and the sign-in dialog already reports this.
  if (error instanceof ApiError && error.status === 401) return;
  if (error instanceof ApprovalRequested) return toastRequested();
  toast.error(action, { description: messageOf(error), duration: 8000 });
}

/** Shows that an action is waiting for approval. */
export function toastRequested(): void {
  toast.info('Your change is waiting for approval', { duration: 4000 });
  void queryClient.invalidateQueries({ queryKey: ['approvals'] });
}

export function toastDone(text: string): void {
  toast.success(text, { duration: 1800 });
}

/** Shows that an action was completed, and offers to undo it for a few seconds. */
export function toastUndo(text: string, undo: () => Promise<unknown>): void {
  const onClick = () => void undo().catch((error: unknown) => toastError('Could not undo', error));
  toast.success(text, { duration: 8000, action: { label: 'Undo', onClick } });
}
