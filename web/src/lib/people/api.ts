import { client, unwrap } from '#lib/api/client.ts';
import { randomKey } from '#lib/api/random-key.ts';
import type {
  ApiToken,
  Group,
  GroupLook,
  NewUser,
  Page,
  SignIn,
  User,
  UserChange,
} from '#lib/api/types.ts';

const mergePatch = { 'content-type': 'application/merge-patch+json' };

export function listUsers(cursor: string | null): Promise<Page<User>> {
  const query = cursor ? { cursor } : {};
  return unwrap(client.GET('/api/v1/users', { params: { query } }));
}

/** @throws ApiError 409 if the email address is in use */
export function createUser(body: NewUser): Promise<User> {
  const params = { header: { 'Idempotency-Key': randomKey() } };
  return unwrap(client.POST('/api/v1/users', { params, body }));
}

/** @throws ApiError 409 if no administrator would remain */
export function patchUser(id: string, body: UserChange): Promise<User> {
  const params = { path: { user_id: id } };
  return unwrap(client.PATCH('/api/v1/users/{user_id}', { params, body, headers: mergePatch }));
}

/** Sets a new password and ends the user's sessions. */
export async function resetPassword(id: string, password: string): Promise<void> {
  const params = { path: { user_id: id } };
  await unwrap(client.POST('/api/v1/users/{user_id}/password', { params, body: { password } }));
}

/** Disables the user's second factor. */
export async function resetSecondFactor(id: string): Promise<void> {
  const params = { path: { user_id: id } };
  await unwrap(client.DELETE('/api/v1/users/{user_id}/second-factor', { params }));
}

/** Lists a user's sessions, newest first. */
export async function listUserSessions(id: string): Promise<SignIn[]> {
  const params = { path: { user_id: id } };
  return (await unwrap(client.GET('/api/v1/users/{user_id}/sessions', { params }))).items;
}

/** Ends all sessions of a user, who can sign in again. */
export async function revokeUserSessions(id: string): Promise<void> {
  const params = { path: { user_id: id } };
  await unwrap(client.DELETE('/api/v1/users/{user_id}/sessions', { params }));
}

/** Lists the newest 200 API tokens of a user. */
export function listUserTokens(id: string): Promise<Page<ApiToken>> {
  const params = { path: { user_id: id }, query: { limit: 200 } };
  return unwrap(client.GET('/api/v1/users/{user_id}/tokens', { params }));
}

export function createGroup(body: GroupLook): Promise<Group> {
  const params = { header: { 'Idempotency-Key': randomKey() } };
  return unwrap(client.POST('/api/v1/groups', { params, body }));
}

export function patchGroup(id: string, body: GroupLook): Promise<Group> {
  const params = { path: { group_id: id } };
  return unwrap(client.PATCH('/api/v1/groups/{group_id}', { params, body, headers: mergePatch }));
}

/** @throws ApiError 409 while the group contains scripts */
export async function deleteGroup(id: string): Promise<void> {
  const params = { path: { group_id: id } };
  await unwrap(client.DELETE('/api/v1/groups/{group_id}', { params }));
}
