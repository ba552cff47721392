import { client, unwrap } from '#lib/api/client.ts';
import type { Page, Secret } from '#lib/api/types.ts';

/** Names only, never values. */
export function listSecrets(scriptId: string, cursor: string | null): Promise<Page<Secret>> {
  const params = { path: { id: scriptId }, query: cursor ? { cursor } : {} };
  return unwrap(client.GET('/api/v1/scripts/{id}/secrets', { params }));
}

/** @throws ApiError 422 for an invalid variable name */
export function setSecret(
  scriptId: string,
  name: string,
  body: { value: string; as_environment: boolean },
): Promise<Secret> {
  const params = { path: { id: scriptId, name } };
  return unwrap(client.PUT('/api/v1/scripts/{id}/secrets/{name}', { params, body }));
}

export async function deleteSecret(scriptId: string, name: string): Promise<void> {
  const params = { path: { id: scriptId, name } };
  await unwrap(client.DELETE('/api/v1/scripts/{id}/secrets/{name}', { params }));
}
