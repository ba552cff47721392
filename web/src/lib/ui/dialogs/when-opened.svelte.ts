import { untrack } from 'svelte';

/** Resets a dialog each time it opens, and only then: a background reload must not change the form during editing.
 *  Call this function during component initialization. */
export function whenOpened(isOpen: () => boolean, begin: () => void): void {
  $effect(() => {
    if (isOpen()) untrack(begin);
  });
}
