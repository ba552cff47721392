import { toast } from 'svelte-sonner';
import { messageOf } from './api/api-error.ts';

/** Tells that an action failed, and why. */
export function toastError(action: string, error: unknown): void {
  toast.error(action, { description: messageOf(error), duration: 8000 });
}

export function toastDone(text: string): void {
  toast.success(text, { duration: 1800 });
}
