/** Where the parts of a backup lie in the object store: its archive, the data keys, and what is said of it, which
 *  is written last. */
import { objectKey, type ObjectKey } from '#domain/ports/object-keys.ts';
import type { ObjectStore } from '#domain/ports/objects.ts';
import { parseJson, type BackupSummary, type WrappedKey } from './format.ts';
import { tarEnd, tarHeader, tarPadding } from './tar.ts';

export const backupsPrefix = 'backups/';

const summaryName = 'backup.json';
const keysName = 'keys.json';
const archiveName = 'backup.tar';

export const archiveKey = (backupId: string): ObjectKey => objectKey.backup(backupId, archiveName);
const keysKey = (backupId: string): ObjectKey => objectKey.backup(backupId, keysName);
const summaryKey = (backupId: string): ObjectKey => objectKey.backup(backupId, summaryName);

/** A backup as it is read: from the object store, or from a file that was downloaded. */
export interface BackupSource {
  readonly summary: BackupSummary;
  readonly keys: readonly WrappedKey[];
  /** The archive from its beginning, as it is stored. May be asked for several times. */
  readonly archive: () => Promise<AsyncIterable<Uint8Array>>;
}

/** What is said of a stored backup; undefined where there is none, or none that is whole. */
export async function readSummary(
  objects: ObjectStore,
  backupId: string,
): Promise<BackupSummary | undefined> {
  const bytes = await objects.get(summaryKey(backupId));
  return bytes && parseJson<BackupSummary>(bytes, summaryName);
}

export async function saveSummary(objects: ObjectStore, summary: BackupSummary): Promise<void> {
  await objects.put(summaryKey(summary.backupId), jsonBytes(summary));
}

export async function readKeys(
  objects: ObjectStore,
  backupId: string,
): Promise<readonly WrappedKey[]> {
  const bytes = await objects.get(keysKey(backupId));
  return bytes === undefined ? [] : parseJson<readonly WrappedKey[]>(bytes, keysName);
}

/** Keys that are destroyed are left out of it later. */
export async function saveKeys(
  objects: ObjectStore,
  backupId: string,
  keys: readonly WrappedKey[],
): Promise<void> {
  await objects.put(keysKey(backupId), jsonBytes(keys));
}

/** Removes every part. What is said of it goes first, so that a rest is never taken for a backup. */
export async function removeBackup(objects: ObjectStore, backupId: string): Promise<void> {
  await objects.delete(summaryKey(backupId));
  await objects.delete(archiveKey(backupId));
  await objects.delete(keysKey(backupId));
}

/** Ids of the folders there are, whole backups or not. */
export async function storedBackups(objects: ObjectStore): Promise<readonly string[]> {
  const found = new Set<string>();
  for await (const { key } of objects.list(backupsPrefix)) found.add(key.split('/')[1] ?? '');
  return [...found];
}

/** A backup in the object store; undefined where there is none. */
export async function storedBackup(
  objects: ObjectStore,
  backupId: string,
): Promise<BackupSource | undefined> {
  const summary = await readSummary(objects, backupId);
  if (summary === undefined) return undefined;
  return {
    summary,
    keys: await readKeys(objects, backupId),
    archive: async () => {
      const chunks = await objects.getStream(archiveKey(backupId));
      if (chunks === undefined) throw new Error(`the archive of backup ${backupId} is missing`);
      return chunks;
    },
  };
}

/** The whole backup as one file, as it is downloaded: an archive of its three parts. */
export async function downloadOf(
  source: BackupSource,
): Promise<{ readonly sizeBytes: number; readonly chunks: AsyncIterable<Uint8Array> }> {
  const small = [
    { name: summaryName, content: jsonBytes(source.summary) },
    { name: keysName, content: jsonBytes(source.keys) },
  ];
  const { sizeBytes: archiveBytes } = source.summary;
  const heads = small.map(({ name, content }) =>
    Buffer.concat([tarHeader(name, content.length), content, tarPadding(content.length)]),
  );
  const before = Buffer.concat([...heads, tarHeader(archiveName, archiveBytes)]);
  const after = Buffer.concat([tarPadding(archiveBytes), tarEnd]);
  const archive = await source.archive();
  return {
    sizeBytes: before.length + archiveBytes + after.length,
    chunks: (async function* () {
      yield before;
      yield* archive;
      yield after;
    })(),
  };
}

export const downloadParts = { summaryName, keysName, archiveName };

function jsonBytes(value: unknown): Uint8Array {
  return Buffer.from(`${JSON.stringify(value, null, 2)}\n`);
}
