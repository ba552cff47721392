/** The content of a secret: a value, or the store, path and key of a value in an external store. */
import { mustParse, parseSecretStoreId } from '#domain/kernel/ids.ts';
import type { Sealed, SecretSource } from '#domain/secret/events.ts';
import { maxSecretBytes } from '#domain/secret/secret.ts';
import { sealSource } from '#infra/secrets/sealed-source.ts';
import type { SecretPlace, Vault } from '#infra/secrets/vault.ts';
import type { ReadModels } from '#projections/projection.ts';
import { findSecretStore } from '#projections/secret-stores/queries.ts';
import type { Static } from 'typebox';
import { fieldProblem, problem, type Problem } from '../http/problem.ts';
import type { SecretValue } from './schema.ts';

export type SecretContent = { readonly value: string } | { readonly source: SecretSource };

/** Reads the content of a secret from a body. The command checks later whether the group may use the store. */
export async function readContent(
  { value, store, path, key }: Static<typeof SecretValue>,
  db: ReadModels,
): Promise<SecretContent | Problem> {
  if (store === undefined) {
    if (path !== undefined || key !== undefined) return fieldProblem('store', 'is required');
    if (value === undefined)
      return fieldProblem('value', 'is required, unless store, path and key are given');
    return Buffer.byteLength(value) > maxSecretBytes
      ? problem('validation_failed', `The value exceeds ${maxSecretBytes} bytes.`)
      : { value };
  }
  if (value !== undefined) return fieldProblem('value', 'cannot be combined with a store');
  if (key === undefined) return fieldProblem('key', 'is required');
  const storeId = mustParse(parseSecretStoreId, store);
  const row = await findSecretStore(db, storeId);
  // File stores accept an empty path, which means the top folder.
  if ((path ?? '') === '' && row?.settings.connection.type === 'vault') {
    return fieldProblem('path', 'is required');
  }
  return { source: { storeId, path: path ?? '', key } };
}

/** @throws UnreadableSecret if the data key is encrypted with another master key */
export async function sealContent(
  vault: Vault,
  place: SecretPlace,
  content: SecretContent,
): Promise<{ readonly sealed: Sealed; readonly source?: SecretSource }> {
  if ('value' in content) return { sealed: await vault.seal(place, content.value) };
  const { source } = content;
  return { source, sealed: await sealSource(vault, place, source) };
}
