import { toast } from 'svelte-sonner';
import { ApiError, messageOf } from '#lib/api/api-error.ts';

/** Reports a failed action with the reason. */
export function toastError(action: string, error: unknown): void {
  // The session has ended, and the login dialog reports it.
  if (error instanceof ApiError && error.status === 401) return;
  toast.error(action, { description: messageOf(error), duration: 8000 });
}

export function toastDone(text: string): void {
  toast.success(text, { duration: 1800 });
}

/** Reports a completed action and offers to undo it for a while. */
export function toastUndo(text: string, undo: () => Promise<unknown>): void {
  const onClick = () => void undo().catch((error: unknown) => toastError('Could not undo', error));
  toast.success(text, { duration: 8000, action: { label: 'Undo', onClick } });
}
