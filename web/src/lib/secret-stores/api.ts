import { client, unwrap } from '#lib/api/client.ts';
import { randomKey } from '#lib/api/random-key.ts';
import type {
  SecretStoreInput,
  SecretStore,
  SecretStoreChange,
  SecretStoreTest,
  SecretStoreTestResult,
} from '#lib/api/types.ts';

const mergePatch = { 'content-type': 'application/merge-patch+json' };
const pathOf = (id: string) => ({ path: { secret_store_id: id } });

/** Lists the stores from which the user's scripts may read secrets. Only administrators can see the settings of a
 *  store. */
export async function listSecretStores(): Promise<SecretStore[]> {
  return (await unwrap(client.GET('/api/v1/secret-stores'))).items;
}

export function createSecretStore(body: SecretStoreInput): Promise<SecretStore> {
  const params = { header: { 'Idempotency-Key': randomKey() } };
  return unwrap(client.POST('/api/v1/secret-stores', { params, body }));
}

export function patchSecretStore(id: string, body: SecretStoreChange): Promise<SecretStore> {
  const path = '/api/v1/secret-stores/{secret_store_id}';
  return unwrap(client.PATCH(path, { params: pathOf(id), body, headers: mergePatch }));
}

/** @throws ApiError 409 while secrets use the store */
export async function deleteSecretStore(id: string): Promise<void> {
  const path = '/api/v1/secret-stores/{secret_store_id}';
  await unwrap(client.DELETE(path, { params: pathOf(id) }));
}

export function testSecretStore(id: string, body: SecretStoreTest): Promise<SecretStoreTestResult> {
  const path = '/api/v1/secret-stores/{secret_store_id}/test';
  return unwrap(client.POST(path, { params: pathOf(id), body }));
}
