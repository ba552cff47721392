import { untrack } from 'svelte';

/** Has a dialog begin anew each time it opens, and at no other time: what it is about may come anew from the server
 *  while somebody types. Call it where a component is made. */
export function whenOpened(isOpen: () => boolean, begin: () => void): void {
  $effect(() => {
    if (isOpen()) untrack(begin);
  });
}
