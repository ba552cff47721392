/** Seals the source of a secret whose value is in an external store. */
import type { Sealed, SecretSource } from '#domain/secret/events.ts';
import type { SecretPlace, Vault } from './vault.ts';

// Secret names contain no spaces, so a source is never bound to the same place as a value. A release without external
// stores therefore cannot mistake a source for a value.
const placeOf = (place: SecretPlace): SecretPlace => ({
  ...place,
  name: `${place.name} in a store`,
});

/** @throws UnreadableSecret if the data key was wrapped by an unknown master key */
export async function sealSource(
  vault: Vault,
  place: SecretPlace,
  source: SecretSource,
): Promise<Sealed> {
  return await vault.seal(placeOf(place), JSON.stringify(source));
}

/** @throws UnreadableSecret if the source was modified or belongs to another secret */
export async function openSource(
  vault: Vault,
  place: SecretPlace,
  sealed: Sealed,
): Promise<SecretSource> {
  return JSON.parse(await vault.open(placeOf(place), sealed)) as SecretSource;
}
