/** Walks a folder of objects in key order. */
import type { Stats } from 'node:fs';
import { lstat, readdir, type FileHandle } from 'node:fs/promises';
import { parseObjectKey, type ObjectKey } from '#domain/ports/object-keys.ts';
import type { ObjectInfo } from '#domain/ports/objects.ts';
import { errorCode, inside, openFolder } from './beneath.ts';

interface Walk {
  readonly root: string;
  readonly prefix: string;
  readonly after: string;
}

interface Entry {
  readonly name: string;
  /** An object key, or the common prefix of a folder's keys (ends in `/`). */
  readonly text: string;
  readonly isFolder: boolean;
}

function compareBytes(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

function isWanted(walk: Walk, entry: Entry): boolean {
  const { text, isFolder } = entry;
  if (!isFolder) return text.startsWith(walk.prefix) && compareBytes(text, walk.after) > 0;
  const mayMatch = text.startsWith(walk.prefix) || walk.prefix.startsWith(text);
  return mayMatch && (walk.after.startsWith(text) || compareBytes(text, walk.after) > 0);
}

/** Sorts a folder by its name plus a slash, because all keys in the folder start with this prefix. */
async function entriesOf(walk: Walk, folder: FileHandle, start: string): Promise<Entry[]> {
  const found = await readdir(inside(folder, '.'), { withFileTypes: true });
  return found
    .filter((item) => item.isFile() || item.isDirectory())
    .map((item) => {
      const isFolder = item.isDirectory();
      return { name: item.name, text: `${start}${item.name}${isFolder ? '/' : ''}`, isFolder };
    })
    .filter((entry) => isWanted(walk, entry))
    .toSorted((a, b) => compareBytes(a.text, b.text));
}

/**
 * Returns the details of an object from its file. Each write creates a new file, so the inode number identifies the
 * version.
 */
export function infoFrom(key: ObjectKey, { ino, size, mtimeMs }: Stats): ObjectInfo {
  const etag = [ino, Math.floor(mtimeMs * 1000), size].map((part) => part.toString(36)).join('-');
  return { key, sizeBytes: size, modifiedAtMs: mtimeMs, etag };
}

async function infoOf(folder: FileHandle, entry: Entry): Promise<ObjectInfo | undefined> {
  const key = parseObjectKey(entry.text);
  if (key === undefined) return undefined;
  const stats = await lstat(inside(folder, entry.name)).catch(ignoreMissing);
  return stats && infoFrom(key, stats);
}

// Omits files that are deleted during the walk.
function ignoreMissing(error: unknown): undefined {
  const code = errorCode(error);
  if (code !== 'ENOENT' && code !== 'ENOTDIR') throw error;
}

/** Yields every object below a prefix. `start` is the path so far: empty, or ending in `/`. */
export async function* walkObjects(walk: Walk, start = ''): AsyncGenerator<ObjectInfo> {
  const parts = start.split('/').filter((part) => part !== '');
  const folder = await openFolder(walk.root, parts, false).catch(ignoreMissing);
  if (folder === undefined) return;
  try {
    for (const entry of await entriesOf(walk, folder, start)) {
      if (entry.isFolder) {
        yield* walkObjects(walk, entry.text);
        continue;
      }
      const info = await infoOf(folder, entry);
      if (info !== undefined) yield info;
    }
  } finally {
    await folder.close();
  }
}
