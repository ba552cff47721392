/** The locations of a backup's parts in the object store. The manifest is written last, so a folder without a manifest
 *  is not a backup. */
import { objectKey, type ObjectKey } from '#domain/ports/object-keys.ts';
import type { ObjectStore } from '#domain/ports/objects.ts';
import { damaged } from './damaged.ts';
import { jsonBytes, type BackupSummary } from './format.ts';
import { parseSummary, summaryName } from './manifest.ts';
import { tarEnd, tarHeader, tarPadding } from './tar.ts';

export const backupsPrefix = 'backups/';
export const archiveName = 'backup.tar';
export const partListName = 'parts.txt';
/** The name of the part with the wrapped keys in backups without a seal. */
const unsealedKeysName = 'keys.json';
const keysPattern = /^keys(-\d+)?\.json$/;

/** @param revision starts at 1. Each set of keys has its own file, so that the new manifest switches to the new keys
 *  atomically */
export const keysName = (revision: number): string => `keys-${revision}.json`;
export const isKeysName = (name: string): boolean => keysPattern.test(name);

export const partKey = (backupId: string, name: string): ObjectKey =>
  objectKey.backup(backupId, name);
const summaryKey = (backupId: string): ObjectKey => partKey(backupId, summaryName);

/** A backup to read, from the object store or from a downloaded file. */
export interface BackupSource {
  readonly summary: BackupSummary;
  /** Names of all existing files except the manifest, in any order. */
  readonly names: readonly string[];
  /** Reads a stored part from the beginning. May be called several times.
   *  @throws DamagedBackup if it is missing */
  readonly part: (name: string) => Promise<AsyncIterable<Uint8Array>>;
}

/** Names of the parts except the manifest, in download order. */
export function partNames({ parts }: BackupSummary): readonly string[] {
  return parts?.map(({ name }) => name) ?? [unsealedKeysName, archiveName];
}

/** The manifest of a stored backup; undefined if it does not exist.
 *  @throws DamagedBackup if it is damaged or belongs to another backup */
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

/** Removes every part, the manifest first, so that a partial removal is never mistaken for a backup. */
export async function removeBackup(objects: ObjectStore, backupId: string): Promise<void> {
  await objects.delete(summaryKey(backupId));
  for (const name of await filesOf(objects, backupId)) {
    await objects.delete(partKey(backupId, name));
  }
}

/** IDs of all existing folders, including those of incomplete backups. */
export async function storedBackups(objects: ObjectStore): Promise<readonly string[]> {
  const found = new Set<string>();
  for await (const { key } of objects.list(backupsPrefix)) found.add(key.split('/')[1] ?? '');
  return [...found];
}

/** A backup in the object store; undefined if it does not exist.
 *  @throws DamagedBackup if its manifest is damaged */
export async function storedBackup(
  objects: ObjectStore,
  backupId: string,
): Promise<BackupSource | undefined> {
  const summary = await readSummary(objects, backupId);
  return summary && (await storedSource(objects, summary));
}

/** The parts in storage, according to a manifest that may not be stored yet. */
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

/** Names of the files of a stored backup except the manifest. */
async function filesOf(objects: ObjectStore, backupId: string): Promise<readonly string[]> {
  const folder = `${backupsPrefix}${backupId}/`;
  const names: string[] = [];
  for await (const { key } of objects.list(folder)) names.push(key.slice(folder.length));
  return names.filter((name) => name !== summaryName);
}

export function missing(name: string): Error {
  return damaged(name, 'it is missing');
}

/** The whole backup as one downloadable file: an archive of its parts, manifest first. */
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

/** A file whose size differs from the manifest would corrupt the archive. */
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
