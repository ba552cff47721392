import { client, unwrap } from '#lib/api/client.ts';
import { sessionKey, storedText } from '#lib/api/session-key.ts';
import { exclusively } from '#lib/api/tokens.ts';
import type { SignInProvider } from '#lib/api/types.ts';

/** The slug of the provider that was last used to sign in with this browser. The user may still be signed in
 *  there. */
export const usedProvider = storedText('orch-provider');

/** The identity providers where users can sign in. */
export async function signInProviders(): Promise<readonly SignInProvider[]> {
  return (await unwrap(client.GET('/api/v1/auth/providers'))).items;
}

/** Stores the session key that the server appended to the URL after a sign-in at an identity provider, and removes it
 *  from the URL and the browser's history.
 *  @returns the page to open; null without such a sign-in */
export async function acceptProviderSignIn(): Promise<string | null> {
  const fragment = new URLSearchParams(location.hash.slice(1));
  const key = fragment.get('session_key');
  if (key === null) return null;
  history.replaceState(history.state, '', location.pathname);
  const slug = fragment.get('provider');
  if (slug !== null) usedProvider.set(slug);
  // No tab may send the new cookie with the key of the previous session.
  await exclusively(() => Promise.resolve(sessionKey.set(key)));
  return fragment.get('next');
}

const reasons: Readonly<Record<string, string>> = {
  account_disabled: 'Your account is disabled. Ask an administrator to enable it.',
  address_not_allowed: 'Your email address is not allowed to sign in here.',
  address_taken:
    'An account with your email address exists, but is not linked to your identity. Ask an administrator to link it.',
  address_unverified: 'Your provider did not send a valid, verified email address.',
  declined: 'The sign-in was canceled.',
  expired: 'The sign-in expired or was started in another browser. Try again.',
  no_account: 'You have no account here. Ask an administrator to create one.',
  no_sign_out: 'The identity provider has no sign-out page.',
  no_role: 'Your account has no role here. Ask an administrator for access.',
  provider_failed:
    'The identity provider cannot be reached or sent an invalid response. Try again later.',
};

/** Why a sign-in at an identity provider was refused. @param reason from the URL */
export function reasonText(reason: string | null): string | null {
  return reason === null ? null : (reasons[reason] ?? 'The sign-in was refused.');
}
