import { client, unwrap } from '#lib/api/client.ts';
import { randomKey } from '#lib/api/random-key.ts';
import type {
  ApiToken,
  FactorKey,
  NewApiToken,
  Page,
  PasskeySignature,
  SecondFactor,
  ShownApiToken,
  SignIn,
} from '#lib/api/types.ts';
import { createPasskey } from '#lib/session/passkeys.ts';
import { session } from '#lib/session/session.svelte.ts';

export interface Confirmation {
  current_password: string;
  code?: string;
  /** A passkey signature, as an alternative to a code. */
  passkey?: PasskeySignature;
}

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

/** Lists the user's own sessions, newest first. */
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

/** Returns the state of the user's second factor. */
export function getSecondFactor(): Promise<SecondFactor> {
  return unwrap(client.GET('/api/v1/auth/second-factor', {}));
}

/** Generates a key for an authenticator app. The server does not store the key. */
export function createFactorKey(): Promise<FactorKey> {
  return unwrap(client.POST('/api/v1/auth/second-factor/key', { body: {} }));
}

/** @returns the recovery codes; no other response contains them
 *  @throws ApiError 422 for a wrong password or code, 429 after too many attempts */
export async function enableSecondFactor(
  key: string,
  { code = '', ...given }: Confirmation,
): Promise<string[]> {
  const body = { key, code, ...given };
  return (await unwrap(client.POST('/api/v1/auth/second-factor', { body }))).recovery_codes;
}

/** @returns the new recovery codes, which replace the previous codes @throws the same errors as `enableSecondFactor` */
export async function replaceRecoveryCodes(body: Confirmation): Promise<string[]> {
  const path = '/api/v1/auth/second-factor/recovery-codes';
  return (await unwrap(client.POST(path, { body }))).recovery_codes;
}

/** @throws ApiError like `enableSecondFactor` */
export async function disableSecondFactor(body: Confirmation): Promise<void> {
  await unwrap(client.POST('/api/v1/auth/second-factor/disable', { body }));
}

/** Creates a passkey in the browser and adds it to the account.
 *  @returns the recovery codes, if the account had no second factor before
 *  @throws the same errors as `enableSecondFactor`, or Error if the user cancels */
export async function addPasskey(name: string, given: Confirmation): Promise<string[]> {
  const path = '/api/v1/auth/second-factor/passkeys';
  const options = await unwrap(client.POST(`${path}/options`, { body: {} }));
  const { email = '', name: owner = '' } = session.user ?? {};
  const credential = await createPasskey(options, { email, name: owner });
  const body = { name, credential, ...given };
  return (await unwrap(client.POST(path, { body }))).recovery_codes;
}

export async function renamePasskey(id: string, name: string): Promise<void> {
  await unwrap(
    client.PATCH('/api/v1/auth/second-factor/passkeys/{passkey_id}', {
      params: { path: { passkey_id: id } },
      body: { name },
      headers: { 'content-type': 'application/merge-patch+json' },
    }),
  );
}

/** @throws ApiError like `enableSecondFactor` */
export async function removePasskey(id: string, body: Confirmation): Promise<void> {
  const params = { path: { passkey_id: id } };
  const path = '/api/v1/auth/second-factor/passkeys/{passkey_id}/remove';
  await unwrap(client.POST(path, { params, body }));
}

/** Changes the password and ends the user's other sessions.
 *  @throws ApiError 422 if the current password is wrong, 429 after too many attempts */
export async function changePassword(current: string, next: string): Promise<void> {
  const body = { current_password: current, new_password: next };
  await unwrap(client.POST('/api/v1/auth/password', { body }));
}
