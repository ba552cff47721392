import { error } from '@sveltejs/kit';
import { session } from './session.svelte.ts';

/** For the `load` of a page that is only for some: the error page says that it is not open to others.
 *  @param parent after which it is known who is logged in */
export async function requireRight(parent: () => Promise<unknown>, right: string): Promise<void> {
  await parent();
  if (!session.may(right)) error(403, 'Your role does not allow this.');
}
