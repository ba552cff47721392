/** Reads, unwraps and renews the wrapped data keys of a backup. Keys are renewed after a data key is destroyed or the
 *  master key changes. */
import { createHash } from 'node:crypto';
import type { ObjectStore } from '#domain/ports/objects.ts';
import type { Queryable } from '#infra/postgres/database.ts';
import {
  rewrapDataKey,
  unwrapDataKey,
  type KeyRow,
  type MasterKeys,
} from '#infra/secrets/data-keys.ts';
import { keyName, UnreadableSecret } from '#infra/secrets/envelope.ts';
import Type from 'typebox';
import { Value } from 'typebox/value';
import { damaged, inPart, UnsealedBackup } from './damaged.ts';
import {
  isKeysName,
  keysName,
  partKey,
  partNames,
  saveSummary,
  storedBackup,
  type BackupSource,
} from './files.ts';
import { jsonBytes, parseJson, type BackupSummary, type WrappedKey } from './format.ts';
import { checkSeal, sealSummary } from './manifest.ts';
import type { ListedPart } from './parts.ts';
import { comparedPart, wholeMember } from './read.ts';

const destroyed = `SELECT key_id FROM destroyed_keys WHERE key_id = ANY ($1::uuid[])`;
const Keys = Type.Array(
  Type.Object({
    key_id: Type.String(),
    script_id: Type.String(),
    master_key_id: Type.String(),
    wrapped_key: Type.String(),
    created_at: Type.String(),
  }),
);

/** Builds the part that contains the data keys, and its entry in the manifest. */
export function keysPart(
  keys: readonly WrappedKey[],
  revision: number,
): { readonly part: ListedPart; readonly bytes: Buffer } {
  const bytes = jsonBytes(keys);
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  return { part: { name: keysName(revision), sizeBytes: bytes.length, sha256 }, bytes };
}

/** Reads a backup's data keys and checks them against its manifest.
 *  @throws DamagedBackup that names the part */
export async function readKeys(source: BackupSource): Promise<readonly WrappedKey[]> {
  const name = partNames(source.summary).find(isKeysName) ?? keysName(1);
  const listed = source.summary.parts?.find((part) => part.name === name);
  const stored = await source.part(name);
  try {
    const content = listed === undefined ? stored : comparedPart(stored, listed);
    const bytes = await wholeMember({ sizeBytes: listed?.sizeBytes ?? 0, content });
    const keys = parseJson<readonly WrappedKey[]>(bytes, name);
    if (!Value.Check(Keys, keys)) throw damaged(name, 'it does not contain keys');
    if (!jsonBytes(keys).equals(bytes)) throw damaged(name, 'it was reformatted or changed');
    return keys;
  } catch (error) {
    throw inPart(name, error);
  }
}

/** Verifies every key that an available master key can unwrap.
 *  @returns the number of keys that are wrapped with other master keys
 *  @throws DamagedBackup that names the part and the key */
export function checkKeys(
  { summary }: Pick<BackupSource, 'summary'>,
  keys: readonly WrappedKey[],
  masterKeys: readonly Uint8Array[],
): number {
  const here = new Set(masterKeys.map((key) => keyName(key)));
  const own = keys.filter((key) => here.has(key.master_key_id));
  for (const key of own) {
    try {
      unwrapDataKey(masterKeys, rowOf(key));
    } catch (cause) {
      if (!(cause instanceof UnreadableSecret)) throw cause;
      const name = partNames(summary).find(isKeysName) ?? '';
      throw damaged(name, `the key ${key.key_id} cannot be decrypted`, cause);
    }
  }
  return keys.length - own.length;
}

/** Removes destroyed data keys from a stored backup. Wraps the remaining keys with the current master key, and seals
 *  the backup with it. A crash leaves the backup either unchanged or fully renewed.
 *  @param masterKeys the current key first
 *  @throws DamagedBackup if the backup was changed after it was sealed; the backup is then not modified */
export async function renewKeys(
  db: Queryable,
  objects: ObjectStore,
  backupId: string,
  masterKeys: MasterKeys,
): Promise<void> {
  const source = await storedBackup(objects, backupId);
  if (source === undefined) return;
  const isSealed = hasSeal(source.summary, masterKeys);
  const keys = await readKeys(source);
  const gone = await destroyedOf(db, keys);
  const left = keys.filter((key) => !gone.has(key.key_id));
  const isOfOther = isSealed && source.summary.seal?.key !== keyName(masterKeys[0]);
  if (gone.size > 0 || isOfOther) {
    const wrapped = isSealed ? left.map((key) => rewrapped(key, masterKeys)) : left;
    await replaceKeys(objects, source.summary, wrapped, isSealed ? masterKeys[0] : undefined);
  }
  await dropOldKeys(objects, backupId);
}

function hasSeal(summary: BackupSummary, masterKeys: MasterKeys): boolean {
  try {
    checkSeal(summary, masterKeys);
    return true;
  } catch (error) {
    if (error instanceof UnsealedBackup) return false;
    throw error;
  }
}

async function destroyedOf(
  db: Queryable,
  keys: readonly WrappedKey[],
): Promise<ReadonlySet<string>> {
  const { rows } = await db.query<{ key_id: string }>(destroyed, [keys.map((key) => key.key_id)]);
  return new Set(rows.map((row) => row.key_id));
}

/**
 * @param masterKey reseals the backup. If undefined, the seal is removed, because the backup's master key is unknown
 */
async function replaceKeys(
  objects: ObjectStore,
  summary: BackupSummary,
  keys: readonly WrappedKey[],
  masterKey: Uint8Array | undefined,
): Promise<void> {
  const { backupId, parts } = summary;
  const before = partNames(summary).find(isKeysName) ?? '';
  if (parts === undefined) {
    await objects.put(partKey(backupId, before), jsonBytes(keys));
    return;
  }
  const { part, bytes } = keysPart(keys, 1 + Number(/\d+/.exec(before)?.[0] ?? 0));
  await objects.put(partKey(backupId, part.name), bytes);
  const renewed = { ...summary, parts: parts.map((one) => (one.name === before ? part : one)) };
  await saveSummary(
    objects,
    masterKey === undefined ? { ...renewed, seal: null } : sealSummary(renewed, masterKey),
  );
}

/** Deletes key files that the manifest does not list, for example after a crash. */
async function dropOldKeys(objects: ObjectStore, backupId: string): Promise<void> {
  const source = await storedBackup(objects, backupId);
  if (source === undefined) return;
  const listed = partNames(source.summary);
  for (const name of source.names) {
    if (isKeysName(name) && !listed.includes(name)) await objects.delete(partKey(backupId, name));
  }
}

function rewrapped(key: WrappedKey, masterKeys: MasterKeys): WrappedKey {
  const present = keyName(masterKeys[0]);
  if (key.master_key_id === present) return key;
  try {
    const wrapped = rewrapDataKey(masterKeys, rowOf(key));
    return { ...key, master_key_id: present, wrapped_key: wrapped.toString('base64') };
  } catch (error) {
    if (error instanceof UnreadableSecret) return key;
    throw error;
  }
}

function rowOf(key: WrappedKey): KeyRow {
  return { ...key, wrapped_key: Buffer.from(key.wrapped_key, 'base64') };
}
