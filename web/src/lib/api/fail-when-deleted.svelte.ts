import { invalidateAll } from '$app/navigation';
import { ApiError } from './api-error.ts';

/** Opens the error page when the resource of a page is deleted while the page is open. The page's `load` function must
 *  fail for a deleted resource. Must be called while a component is initialized.
 *  @param id returns the ID of the resource
 *  @param error returns the error of the last request for the resource */
export function failWhenDeleted(id: () => string, error: () => unknown): void {
  let deletedId: string | undefined;
  $effect(() => {
    const reason = error();
    // Loads the page once, because each attempt cancels the previous one and reports the error again.
    if (!(reason instanceof ApiError) || reason.status !== 404 || deletedId === id()) return;
    deletedId = id();
    void invalidateAll();
  });
}
