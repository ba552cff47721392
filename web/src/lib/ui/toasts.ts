import { toast } from 'svelte-sonner';
import { ApiError, messageOf } from '#lib/api/api-error.ts';

/** Tells that an action failed, and why. */
export function toastError(action: string, error: unknown): void {
  // The session has ended, and the dialog that asks to log in again says so.
  if (error instanceof ApiError && error.status === 401) return;
  toast.error(action, { description: messageOf(error), duration: 8000 });
}

export function toastDone(text: string): void {
  toast.success(text, { duration: 1800 });
}

/** Tells what was done, and offers for a while to undo it. */
export function toastUndo(text: string, undo: () => Promise<unknown>): void {
  const onClick = () => void undo().catch((error: unknown) => toastError('Could not undo', error));
  toast.success(text, { duration: 8000, action: { label: 'Undo', onClick } });
}
