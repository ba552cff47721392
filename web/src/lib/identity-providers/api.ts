import { client, unwrap } from '#lib/api/client.ts';
import { randomKey } from '#lib/api/random-key.ts';
import type {
  ClaimsTrial,
  ClaimsTrialResult,
  IdentityProvider,
  IdentityProviderChange,
  NewIdentityProvider,
} from '#lib/api/types.ts';

const mergePatch = { 'content-type': 'application/merge-patch+json' };
const pathOf = (id: string) => ({ path: { identity_provider_id: id } });

export async function listIdentityProviders(): Promise<IdentityProvider[]> {
  return (await unwrap(client.GET('/api/v1/identity-providers'))).items;
}

/** @throws ApiError 409 if the slug is in use */
export function createIdentityProvider(body: NewIdentityProvider): Promise<IdentityProvider> {
  const params = { header: { 'Idempotency-Key': randomKey() } };
  return unwrap(client.POST('/api/v1/identity-providers', { params, body }));
}

export function patchIdentityProvider(
  id: string,
  body: IdentityProviderChange,
): Promise<IdentityProvider> {
  const path = '/api/v1/identity-providers/{identity_provider_id}';
  return unwrap(client.PATCH(path, { params: pathOf(id), body, headers: mergePatch }));
}

export async function deleteIdentityProvider(id: string): Promise<void> {
  const path = '/api/v1/identity-providers/{identity_provider_id}';
  await unwrap(client.DELETE(path, { params: pathOf(id) }));
}

/** Simulates a sign-in without changing any data. */
export function tryClaims(id: string, body: ClaimsTrial): Promise<ClaimsTrialResult> {
  const path = '/api/v1/identity-providers/{identity_provider_id}/try';
  return unwrap(client.POST(path, { params: pathOf(id), body }));
}
