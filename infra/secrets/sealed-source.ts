/** The source of a secret whose value is in an external store, sealed. */
import type { Sealed, SecretSource } from '#domain/secret/events.ts';
import type { SecretPlace, Vault } from './vault.ts';

// Names of secrets contain no spaces, so a source is never bound to the name of a value. A release without external
// stores therefore cannot decrypt a source as a value.
const placeOf = (place: SecretPlace): SecretPlace => ({
  ...place,
  name: `${place.name} in a store`,
});

/** @throws UnreadableSecret if the data key was made with another master key */
export async function sealSource(
  vault: Vault,
  place: SecretPlace,
  source: SecretSource,
): Promise<Sealed> {
  return await vault.seal(placeOf(place), JSON.stringify(source));
}

/** @throws UnreadableSecret if the source was changed or belongs to another secret */
export async function openSource(
  vault: Vault,
  place: SecretPlace,
  sealed: Sealed,
): Promise<SecretSource> {
  return JSON.parse(await vault.open(placeOf(place), sealed)) as SecretSource;
}
