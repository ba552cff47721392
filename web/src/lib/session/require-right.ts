import { error } from '@sveltejs/kit';
import { session } from './session.svelte.ts';

/** For the `load` of a restricted page: other users get the error page.
 *  @param parent resolves after the current user is known */
export async function requireRight(parent: () => Promise<unknown>, right: string): Promise<void> {
  await parent();
  if (!session.may(right)) error(403, 'Your role does not allow this.');
}
