import { readApiError } from '#lib/api/api-error.ts';
import { client, unwrap } from '#lib/api/client.ts';
import { connection } from '#lib/api/connection.svelte.ts';
import { sessionKey } from '#lib/api/session-key.ts';
import { exclusively, forgetEverywhere, keeper } from '#lib/api/tokens.ts';
import type { Me, PasskeySignature, SessionTokens } from '#lib/api/types.ts';

/** Signs in. The server sets the refresh cookie, which JavaScript cannot read.
 *  @param factor a code or a passkey, if the server has asked for a second factor
 *  @throws ApiError 401 for wrong credentials or a missing code, 429 while throttled */
export async function logIn(
  email: string,
  password: string,
  factor: { code?: string; passkey?: PasskeySignature } = {},
): Promise<void> {
  // Runs exclusively, so that no tab sends the new cookie with the previous session's key.
  const answer = await exclusively(async () => {
    const signedIn = await postLogin({ email, password, ...factor });
    sessionKey.set(signedIn.session_key);
    return signedIn;
  });
  keeper.accept(answer);
}

async function postLogin(credentials: object): Promise<SessionTokens> {
  const response = await connection.watch(() =>
    fetch('/api/v1/auth/login', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(credentials),
    }),
  );
  if (!response.ok) throw await readApiError(response);
  return (await response.json()) as SessionTokens;
}

/** Signs out, which ends the session in all tabs. */
export async function logOut(): Promise<void> {
  try {
    await unwrap(client.POST('/api/v1/auth/logout'));
  } finally {
    forgetEverywhere();
  }
}

/** Returns the current user. */
export function me(): Promise<Me> {
  return unwrap(client.GET('/api/v1/auth/me'));
}
