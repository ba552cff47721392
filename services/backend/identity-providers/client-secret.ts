/** The client secret of an identity provider, sealed. */
import type { Sealed } from '#domain/secret/events.ts';
import type { OidcClient } from '#infra/oidc/oidc.ts';
import type { Vault } from '#infra/secrets/vault.ts';
import type { IdentityProvidersTable } from '#projections/identity-providers/table.ts';

const placeOf = (identityProviderId: string) => ({
  scriptId: identityProviderId,
  name: 'client_secret',
  version: 1,
});

/** @throws UnreadableSecret if the provider's data key was made with another master key */
export async function sealClientSecret(
  vault: Vault,
  identityProviderId: string,
  secret: string | null,
): Promise<Sealed | null> {
  return secret === null ? null : await vault.seal(placeOf(identityProviderId), secret);
}

/** The registration of this service at the provider: its client ID and secret. @throws UnreadableSecret */
export async function openClient(
  vault: Vault,
  { identity_provider_id: id, settings, sealed }: IdentityProvidersTable,
): Promise<OidcClient> {
  const { issuer, clientId, scopes } = settings;
  const clientSecret = sealed === null ? undefined : await vault.open(placeOf(id), sealed);
  return { issuer, clientId, scopes, clientSecret };
}
