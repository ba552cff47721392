import { connection } from '../state/connection.svelte.ts';
import { readApiError } from './api-error.ts';
import { client, unwrap } from './client.ts';
import type { TokenAnswer } from './token-keeper.ts';
import { forgetEverywhere, keeper } from './tokens.ts';
import type { Me } from './types.ts';

/** Logs in; the refresh cookie is set by the server and invisible here.
 *  @throws ApiError 401 for wrong credentials, 429 while throttled */
export async function logIn(email: string, password: string): Promise<void> {
  const response = await connection.watch(() =>
    fetch('/api/v1/auth/login', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ email, password }),
    }),
  );
  if (!response.ok) throw await readApiError(response);
  keeper.accept((await response.json()) as TokenAnswer);
}

/** Ends the session here and in the other tabs. */
export async function logOut(): Promise<void> {
  try {
    await unwrap(client.POST('/api/v1/auth/logout'));
  } finally {
    forgetEverywhere();
  }
}

/** The person who is logged in. */
export function me(): Promise<Me> {
  return unwrap(client.GET('/api/v1/auth/me'));
}
