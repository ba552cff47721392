import { client, unwrap } from '#lib/api/client.ts';
import { randomKey } from '#lib/api/random-key.ts';
import type { ApiToken, NewApiToken, Page, ShownApiToken, SignIn } from '#lib/api/types.ts';

export function listTokens(cursor: string | null): Promise<Page<ApiToken>> {
  const query = cursor ? { cursor } : {};
  return unwrap(client.GET('/api/v1/auth/tokens', { params: { query } }));
}

/** Creates an API token. Only this response contains the token.
 *  @throws ApiError 403 for a scope beyond the user's own rights */
export function createToken(body: NewApiToken): Promise<ShownApiToken> {
  const params = { header: { 'Idempotency-Key': randomKey() } };
  return unwrap(client.POST('/api/v1/auth/tokens', { params, body }));
}

export async function revokeToken(id: string): Promise<void> {
  const params = { path: { token_id: id } };
  await unwrap(client.DELETE('/api/v1/auth/tokens/{token_id}', { params }));
}

/** The user's own sessions, newest first. */
export async function listSessions(): Promise<SignIn[]> {
  return (await unwrap(client.GET('/api/v1/auth/sessions', {}))).items;
}

export async function revokeSession(id: string): Promise<void> {
  const params = { path: { session_id: id } };
  await unwrap(client.DELETE('/api/v1/auth/sessions/{session_id}', { params }));
}

/** Ends the user's other sessions. */
export async function revokeOtherSessions(): Promise<void> {
  await unwrap(client.DELETE('/api/v1/auth/sessions', {}));
}

/** Changes the password and ends all other sessions.
 *  @throws ApiError 422 if the current password is wrong, 429 after too many attempts */
export async function changePassword(current: string, next: string): Promise<void> {
  const body = { current_password: current, new_password: next };
  await unwrap(client.POST('/api/v1/auth/password', { body }));
}
