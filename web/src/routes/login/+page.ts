import { redirect } from '@sveltejs/kit';
import { acceptProviderSignIn, signInProviders, usedProvider } from '#lib/session/providers.ts';
import { session } from '#lib/session/session.svelte.ts';
import type { PageLoad } from './$types';

/** The page to open after signing in. Only paths on this site are accepted, so that a link cannot redirect to another
 *  site. */
export const load: PageLoad = async ({ url }) => {
  const wanted = (await acceptProviderSignIn()) ?? url.searchParams.get('next') ?? '/';
  const target = new URL(wanted, url.origin);
  const next = target.origin === url.origin ? target.pathname + target.search : '/';
  const user = await session.resume().catch(() => null);
  if (user) redirect(307, next);
  // The password form works even if the list of identity providers cannot be loaded.
  const providers = await signInProviders().catch(() => []);
  return {
    next,
    reason: url.searchParams.get('reason'),
    providers,
    signedInAt: providers.find(({ slug }) => slug === usedProvider.get()),
  };
};
