import { redirect } from '@sveltejs/kit';
import { session } from '#lib/session/session.svelte.ts';
import type { PageLoad } from './$types';

export const load: PageLoad = async ({ params, parent }) => {
  const { scriptId } = await parent();
  if (!session.may('files.read')) redirect(307, `/scripts/${params.script_id}/runs`);
  return { scriptId };
};
