/** Maps object keys to files in the object store's folder, and reads and writes these files. */
import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { mkdir, open, readdir, rename, stat, unlink, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import type { ObjectKey } from '#domain/ports/object-keys.ts';
import { ObjectConflict, ObjectStoreFull, ObjectStoreUnavailable } from '#domain/ports/objects.ts';
import { errorCode, inside, NotPlain, openFolder } from './beneath.ts';

// No key starts with a dot. All unfinished files are in this folder, so the cleanup after a crash need not read any
// other folder.
const INCOMING = '.incoming';
const READ = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
const WRITE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
// The maximum number of attempts to publish a file. A concurrent delete can remove an empty folder while a write opens
// it.
const PUBLISH_ATTEMPTS = 10;

export interface Place {
  readonly folders: readonly string[];
  readonly name: string;
}

export function placeOf(key: ObjectKey): Place {
  const parts = key.split('/');
  return { folders: parts.slice(0, -1), name: parts.at(-1) ?? '' };
}

/** Converts a file system error to an error of the object store port. */
export function storeError(key: ObjectKey, error: unknown): Error {
  const code = errorCode(error);
  if (code === 'ENOSPC' || code === 'EDQUOT') return new ObjectStoreFull(key, { cause: error });
  if (code === 'ENOTDIR' || code === 'EISDIR') return new ObjectConflict(key, { cause: error });
  return new ObjectStoreUnavailable(`object ${key} cannot be reached`, { cause: error });
}

/** Opens the file of an object. The caller must close it.
 *  @returns undefined if the object does not exist
 *  @throws NotPlain if the path is a link or a device */
export async function openObject(root: string, key: ObjectKey): Promise<FileHandle | undefined> {
  const { folders, name } = placeOf(key);
  const folder = await openFolder(root, folders, false).catch(missing);
  if (folder === undefined) return expectStore(root);
  try {
    const file = await open(inside(folder, name), READ).catch(missing);
    if (file === undefined) return await expectStore(root);
    const stats = await file.stat();
    if (stats.isFile()) return file;
    await file.close();
    if (stats.isDirectory()) return undefined;
    throw new NotPlain(`${key} is not a regular file`);
  } finally {
    await folder.close();
  }
}

/** If an object is missing, checks that the store exists, because an unmounted disk leaves an empty folder.
 *  @throws ENOENT if the store is missing */
export async function expectStore(root: string): Promise<undefined> {
  await stat(join(root, INCOMING));
}

function missing(error: unknown): undefined {
  const code = errorCode(error);
  if (code !== 'ENOENT' && code !== 'ENOTDIR') throw error;
}

export interface Incoming {
  readonly path: string;
  readonly file: FileHandle;
}

/** Creates an empty temporary file for a future object. */
export async function openIncoming(root: string): Promise<Incoming> {
  const path = join(root, INCOMING, randomUUID());
  return { path, file: await open(path, WRITE, 0o600) };
}

/** Discards an unfinished file. Never throws. */
export async function discard(incoming: Incoming): Promise<void> {
  await incoming.file.close().catch(() => undefined);
  await unlink(incoming.path).catch(() => undefined);
}

/** Durably publishes a finished file as the object `key`. Syncs the content first, then creates the name, then syncs
 *  the folder. */
export async function publish(root: string, key: ObjectKey, incoming: Incoming): Promise<void> {
  await incoming.file.sync();
  const { folders, name } = placeOf(key);
  for (let attempt = 1; ; attempt += 1) {
    let folder: FileHandle | undefined;
    try {
      folder = await openFolder(root, folders, true);
      await rename(incoming.path, inside(folder, name));
      await folder.sync();
      break;
    } catch (error) {
      if (errorCode(error) !== 'ENOENT' || attempt === PUBLISH_ATTEMPTS) throw error;
    } finally {
      await folder?.close();
    }
  }
  await incoming.file.close();
}

/** Syncs an existing object's folder, so that its file name survives a crash. */
export async function settle(root: string, key: ObjectKey): Promise<void> {
  const folder = await openFolder(root, placeOf(key).folders, false);
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

/** Creates the folder for unfinished files, and removes files left by a crash.
 *  @param olderThanMs time in milliseconds. Newer files may belong to running processes and are kept */
export async function prepareIncoming(root: string, olderThanMs: number): Promise<void> {
  const folder = join(root, INCOMING);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  for (const name of await readdir(folder)) {
    const path = join(folder, name);
    const found = await stat(path).catch(missing);
    if (found !== undefined && found.mtimeMs < olderThanMs) await unlink(path).catch(missing);
  }
}
