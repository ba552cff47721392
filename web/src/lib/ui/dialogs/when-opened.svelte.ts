import { untrack } from 'svelte';

/** Calls `begin` each time a dialog opens, and only then. A background reload therefore never resets a form while the
 *  user is editing. Call this function while a component initializes. */
export function whenOpened(isOpen: () => boolean, begin: () => void): void {
  $effect(() => {
    if (isOpen()) untrack(begin);
  });
}
