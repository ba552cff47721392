import { error } from '@sveltejs/kit';
import { session } from './session.svelte.ts';

/** Protects a page: in its `load` function, users without the right get the error page.
 *  @param parent resolves once the current user is loaded */
export async function requireRight(parent: () => Promise<unknown>, right: string): Promise<void> {
  await parent();
  if (!session.may(right)) error(403, 'Your role does not allow this.');
}
