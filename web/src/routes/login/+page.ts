import { redirect } from '@sveltejs/kit';
import { session } from '#lib/session/session.svelte.ts';
import type { PageLoad } from './$types';

/** The target after the login: a path of this site only, so that a link cannot redirect elsewhere. */
export const load: PageLoad = async ({ url }) => {
  const wanted = url.searchParams.get('next') ?? '/';
  const target = new URL(wanted, url.origin);
  const next = target.origin === url.origin ? target.pathname + target.search : '/';
  const user = await session.resume().catch(() => null);
  if (user) redirect(307, next);
  return { next };
};
