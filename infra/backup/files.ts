/** Defines where the object store keeps the parts of a backup. The manifest is written last, so a folder without a
 *  manifest is an incomplete backup. */
import { objectKey, type ObjectKey } from '#domain/ports/object-keys.ts';
import type { ObjectStore } from '#domain/ports/objects.ts';
import { damaged } from './damaged.ts';
import { jsonBytes, type BackupSummary } from './format.ts';
import { parseSummary, summaryName } from './manifest.ts';
import { tarEnd, tarHeader, tarPadding } from './tar.ts';

export const backupsPrefix = 'backups/';
export const archiveName = 'backup.tar';
export const partListName = 'parts.txt';
/** The file name of the wrapped keys in unsealed backups. */
const unsealedKeysName = 'keys.json';
const keysPattern = /^keys(-\d+)?\.json$/;

/**
 * @param revision starts at 1. Each key revision has its own file, so writing a new manifest switches keys atomically
 */
export const keysName = (revision: number): string => `keys-${revision}.json`;
export const isKeysName = (name: string): boolean => keysPattern.test(name);

export const partKey = (backupId: string, name: string): ObjectKey =>
  objectKey.backup(backupId, name);
const summaryKey = (backupId: string): ObjectKey => partKey(backupId, summaryName);

/** A readable backup, either in the object store or in a downloaded file. */
export interface BackupSource {
  readonly summary: BackupSummary;
  /** The names of all stored files except the manifest, in any order. */
  readonly names: readonly string[];
  /** Opens a stored part for reading. May be called several times.
   *  @throws DamagedBackup if the part is missing */
  readonly part: (name: string) => Promise<AsyncIterable<Uint8Array>>;
}

/** Returns the names of all parts except the manifest, in download order. */
export function partNames({ parts }: BackupSummary): readonly string[] {
  return parts?.map(({ name }) => name) ?? [unsealedKeysName, archiveName];
}

/** Reads the manifest of a stored backup.
 *  @returns undefined if the manifest does not exist
 *  @throws DamagedBackup if the manifest is damaged or belongs to another backup */
export async function readSummary(
  objects: ObjectStore,
  backupId: string,
): Promise<BackupSummary | undefined> {
  const bytes = await objects.get(summaryKey(backupId));
  const summary = bytes && parseSummary(bytes);
  if (summary !== undefined && summary.backupId !== backupId) {
    throw damaged(summaryName, `it belongs to the backup ${summary.backupId}`);
  }
  return summary;
}

export async function saveSummary(objects: ObjectStore, summary: BackupSummary): Promise<void> {
  await objects.put(summaryKey(summary.backupId), jsonBytes(summary));
}

/** Deletes every part of a backup. The manifest is deleted first, so that a partially deleted backup is never mistaken
 *  for a complete one. */
export async function removeBackup(objects: ObjectStore, backupId: string): Promise<void> {
  await objects.delete(summaryKey(backupId));
  for (const name of await filesOf(objects, backupId)) {
    await objects.delete(partKey(backupId, name));
  }
}

/** Returns the IDs of all stored backups, including incomplete ones. */
export async function storedBackups(objects: ObjectStore): Promise<readonly string[]> {
  const found = new Set<string>();
  for await (const { key } of objects.list(backupsPrefix)) found.add(key.split('/')[1] ?? '');
  return [...found];
}

/** Opens a backup in the object store.
 *  @returns undefined if the backup does not exist
 *  @throws DamagedBackup if its manifest is damaged */
export async function storedBackup(
  objects: ObjectStore,
  backupId: string,
): Promise<BackupSource | undefined> {
  const summary = await readSummary(objects, backupId);
  return summary && (await storedSource(objects, summary));
}

/** Opens the stored parts that a manifest lists. The manifest itself need not be stored yet. */
export async function storedSource(
  objects: ObjectStore,
  summary: BackupSummary,
): Promise<BackupSource> {
  const { backupId } = summary;
  return {
    summary,
    names: await filesOf(objects, backupId),
    part: async (name) => {
      const chunks = await objects.getStream(partKey(backupId, name));
      if (chunks === undefined) throw missing(name);
      return chunks;
    },
  };
}

/** Returns the names of all files of a stored backup except the manifest. */
async function filesOf(objects: ObjectStore, backupId: string): Promise<readonly string[]> {
  const folder = `${backupsPrefix}${backupId}/`;
  const names: string[] = [];
  for await (const { key } of objects.list(folder)) names.push(key.slice(folder.length));
  return names.filter((name) => name !== summaryName);
}

export function missing(name: string): Error {
  return damaged(name, 'it is missing');
}

/** Packs a backup into one downloadable archive. The manifest is its first member. */
export async function downloadOf(
  source: BackupSource,
): Promise<{ readonly sizeBytes: number; readonly chunks: AsyncIterable<Uint8Array> }> {
  const summary = jsonBytes(source.summary);
  const files = [{ name: summaryName, sizeBytes: summary.length }, ...(await sizedParts(source))];
  const padded = files.map(({ name, sizeBytes }) => {
    const [header, padding] = [tarHeader(name, sizeBytes), tarPadding(sizeBytes)];
    return { name, sizeBytes, header, padding, total: header.length + sizeBytes + padding.length };
  });
  return {
    sizeBytes: padded.reduce((sum, { total }) => sum + total, tarEnd.length),
    chunks: (async function* () {
      for (const { name, sizeBytes, header, padding } of padded) {
        yield header;
        if (name === summaryName) yield summary;
        else yield* exactly(name, sizeBytes, await source.part(name));
        yield padding;
      }
      yield tarEnd;
    })(),
  };
}

async function sizedParts(source: BackupSource) {
  const { parts, sizeBytes } = source.summary;
  if (parts !== undefined) return parts;
  let keysBytes = 0;
  for await (const chunk of await source.part(unsealedKeysName)) keysBytes += chunk.byteLength;
  return [
    { name: unsealedKeysName, sizeBytes: keysBytes },
    { name: archiveName, sizeBytes },
  ];
}

/** Fails if the file's size differs from the manifest, because the file would corrupt the archive. */
async function* exactly(
  name: string,
  sizeBytes: number,
  chunks: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  let size = 0;
  for await (const chunk of chunks) {
    size += chunk.byteLength;
    if (size <= sizeBytes) yield chunk;
  }
  if (size !== sizeBytes) throw damaged(name, `it has ${size} bytes instead of ${sizeBytes}`);
}
