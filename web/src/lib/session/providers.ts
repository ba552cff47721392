import { client, unwrap } from '#lib/api/client.ts';
import { sessionKey, storedText } from '#lib/api/session-key.ts';
import { exclusively } from '#lib/api/tokens.ts';
import type { SignInProvider } from '#lib/api/types.ts';

/** The slug of the identity provider last used in this browser. The user may still be signed in at this provider. */
export const usedProvider = storedText('orch-provider');

/** Lists the identity providers that offer sign-in. */
export async function signInProviders(): Promise<readonly SignInProvider[]> {
  return (await unwrap(client.GET('/api/v1/auth/providers'))).items;
}

/** After a sign-in at an identity provider, the server appends the session key to the URL. Stores the key, and removes
 *  it from the URL and the browser's history.
 *  @returns the page to open, or null if the URL contains no key */
export async function acceptProviderSignIn(): Promise<string | null> {
  const fragment = new URLSearchParams(location.hash.slice(1));
  const key = fragment.get('session_key');
  if (key === null) return null;
  history.replaceState(history.state, '', location.pathname);
  const slug = fragment.get('provider');
  if (slug !== null) usedProvider.set(slug);
  // Runs exclusively, so that no tab sends the new cookie with the previous session's key.
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

/** Explains why a sign-in through an identity provider was refused. @param reason the value in the URL */
export function reasonText(reason: string | null): string | null {
  return reason === null ? null : (reasons[reason] ?? 'The sign-in was refused.');
}
