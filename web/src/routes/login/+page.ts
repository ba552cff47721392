import { redirect } from '@sveltejs/kit';
import { acceptProviderSignIn, signInProviders, usedProvider } from '#lib/session/providers.ts';
import { session } from '#lib/session/session.svelte.ts';
import type { PageLoad } from './$types';

/** The target after the login: a path of this site only, so that a link cannot redirect elsewhere. */
export const load: PageLoad = async ({ url }) => {
  const wanted = (await acceptProviderSignIn()) ?? url.searchParams.get('next') ?? '/';
  const target = new URL(wanted, url.origin);
  const next = target.origin === url.origin ? target.pathname + target.search : '/';
  const user = await session.resume().catch(() => null);
  if (user) redirect(307, next);
  // The password form works without the list of identity providers.
  const providers = await signInProviders().catch(() => []);
  return {
    next,
    reason: url.searchParams.get('reason'),
    providers,
    signedInAt: providers.find(({ slug }) => slug === usedProvider.get()),
  };
};
