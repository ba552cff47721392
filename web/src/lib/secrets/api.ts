import { client, unwrap } from '#lib/api/client.ts';
import type { Page, Secret } from '#lib/api/types.ts';

/** The owner of secrets: a script, or a group whose scripts all receive the secrets. */
export interface SecretOwner {
  kind: 'script' | 'group';
  id: string;
}

/** The value of a secret, or its path and key in a secret store. */
export type NewValue = ({ value: string } | { store: string; path: string; key: string }) & {
  as_environment: boolean;
  rotate_after_days: number | null;
};

/** Lists the secrets of an owner, without their values. */
export function listSecrets(
  { kind, id }: SecretOwner,
  cursor: string | null,
): Promise<Page<Secret>> {
  const params = { path: { id }, query: cursor ? { cursor } : {} };
  return unwrap(client.GET(`/api/v1/${kind}s/{id}/secrets`, { params }));
}

/** @throws ApiError 422 for an invalid variable name */
export function setSecret(
  { kind, id }: SecretOwner,
  name: string,
  body: NewValue,
): Promise<Secret> {
  const params = { path: { id, name } };
  return unwrap(client.PUT(`/api/v1/${kind}s/{id}/secrets/{name}`, { params, body }));
}

export async function deleteSecret({ kind, id }: SecretOwner, name: string): Promise<void> {
  const params = { path: { id, name } };
  await unwrap(client.DELETE(`/api/v1/${kind}s/{id}/secrets/{name}`, { params }));
}
