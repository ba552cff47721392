/** Encrypts and decrypts the client secrets of identity providers. */
import type { Sealed } from '#domain/secret/events.ts';
import type { OidcClient } from '#infra/oidc/oidc.ts';
import type { Vault } from '#infra/secrets/vault.ts';
import type { IdentityProvidersTable } from '#projections/identity-providers/table.ts';

const placeOf = (identityProviderId: string) => ({
  scriptId: identityProviderId,
  name: 'client_secret',
  version: 1,
});

/** @throws UnreadableSecret if the provider's data key is encrypted with another master key */
export async function sealClientSecret(
  vault: Vault,
  identityProviderId: string,
  secret: string | null,
): Promise<Sealed | null> {
  return secret === null ? null : await vault.seal(placeOf(identityProviderId), secret);
}

/** This service's credentials at the provider: the client ID and the decrypted secret.
 *  @throws UnreadableSecret */
export async function openClient(
  vault: Vault,
  { identity_provider_id: id, settings, sealed }: IdentityProvidersTable,
): Promise<OidcClient> {
  const { issuer, clientId, scopes } = settings;
  const clientSecret = sealed === null ? undefined : await vault.open(placeOf(id), sealed);
  return { issuer, clientId, scopes, clientSecret };
}
