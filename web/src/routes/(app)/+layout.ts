import { redirect } from '@sveltejs/kit';
import { failPage } from '#lib/api/page-error.ts';
import { session } from '#lib/session/session.svelte.ts';
import type { LayoutLoad } from './$types';

export const load: LayoutLoad = async ({ url }) => {
  const user = await session.resume().catch(failPage);
  if (!user) redirect(307, `/login?next=${encodeURIComponent(url.pathname + url.search)}`);
};
