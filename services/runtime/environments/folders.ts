/** Finishing and removing folders that foreign code wrote into: no link is followed. */
import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import {
  chmod,
  lchown,
  lstat,
  open,
  readdir,
  rename,
  rmdir,
  unlink,
  type FileHandle,
} from 'node:fs/promises';
import { userInfo } from 'node:os';

// Node has no name for it: a descriptor that stands for a path, for which no right to read is needed.
const O_PATH = 0o10000000;

/** Foreign code gives names that are no text. */
type Path = string | Buffer;

interface Found {
  readonly path: Path;
  readonly kind: 'folder' | 'file' | 'special';
  readonly mode: number;
  readonly sizeBytes: number;
}

/** Of a folder whose content only its owner may read. The sandbox opens it to a run that is to see it. */
export const privateMode = 0o700;

/** Everything below `folder` and itself; a folder comes before what it holds. */
async function* walk(folder: string): AsyncGenerator<Found> {
  const waiting: Path[] = [folder];
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    const stats = await unlessGone(lstat(path));
    if (stats === undefined) continue;
    const sizeBytes = stats.blocks * 512;
    if (stats.isDirectory()) {
      yield { path, kind: 'folder', mode: stats.mode, sizeBytes };
      for (const name of (await unlessGone(namesIn(path))) ?? []) waiting.push(joined(path, name));
    } else if (stats.isFile()) {
      yield { path, kind: 'file', mode: stats.mode, sizeBytes };
    } else if (!stats.isSymbolicLink()) {
      yield { path, kind: 'special', mode: stats.mode, sizeBytes };
    }
  }
}

async function namesIn(folder: Path): Promise<Buffer[]> {
  return await readdir(folder, { encoding: 'buffer' });
}

function joined(folder: Path, name: Path): Buffer {
  return Buffer.concat([Buffer.from(folder), Buffer.from('/'), Buffer.from(name)]);
}

/** The path of `name` inside an open folder. */
function inside(folder: FileHandle, name: Path): Buffer {
  return joined(`/proc/self/fd/${folder.fd}`, name);
}

/** What `found` answers; `undefined` where somebody else removed it meanwhile. */
async function unlessGone<T>(found: Promise<T>): Promise<T | undefined> {
  try {
    return await found;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** Makes everything in `folder` readable for all, or closes it to all others where it is private, and its
 *  files writable for nobody. Runs see it read-only as a whole; its owner, this process's user, can still
 *  remove it like any folder of his.
 *  @returns what it takes on the disk, in bytes */
export async function makeReadOnly(folder: string, isPrivate: boolean): Promise<number> {
  const { uid: user, gid: group } = userInfo();
  let bytes = 0;
  const folders: Path[] = [];
  for await (const found of walk(folder)) {
    bytes += found.sizeBytes;
    if (found.kind === 'special') {
      // Opening a pipe that a build has left would wait for ever.
      await unlink(found.path);
      continue;
    }
    // As user 0 this process had it built by another user.
    if (user === 0) await lchown(found.path, user, group);
    if (found.kind === 'folder') folders.push(found.path);
    else await chmod(found.path, (found.mode & 0o111) === 0 ? 0o444 : 0o555);
  }
  for (const path of folders) {
    await chmod(path, isPrivate && path === folder ? privateMode : 0o755);
  }
  return bytes;
}

/** What `folder` takes on the disk, in bytes; 0 where there is none. */
export async function sizeOf(folder: string): Promise<number> {
  let bytes = 0;
  try {
    for await (const found of walk(folder)) bytes += found.sizeBytes;
  } catch {
    // It changes while it is measured; what was counted is close enough.
  }
  return bytes;
}

/** Removes a folder, also one that was made read-only, or whatever else has its name. Everything is removed
 *  relative to open folders: a link that foreign code swaps in meanwhile is removed and not followed. One
 *  that is not there is fine.
 *  @throws ENOTEMPTY where foreign code makes files meanwhile */
export async function removeFolder(path: string): Promise<void> {
  if (await unlinkUnlessFolder(path)) return;
  const top = await openAsOwner(path);
  try {
    const waiting = await emptyInto(top, top);
    for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
      const inner = inside(top, name);
      if (await unlinkUnlessFolder(inner)) continue;
      const folder = await openAsOwner(inner);
      try {
        waiting.push(...(await emptyInto(folder, top)));
      } finally {
        await folder.close();
      }
      await unlessGone(rmdir(inner));
    }
  } finally {
    await top.close();
  }
  await unlessGone(rmdir(path));
}

/** Removes what is in a folder, except folders: those are moved to `top`, so that neither the depth of a tree
 *  nor the length of a path matters. @returns their names there */
async function emptyInto(folder: FileHandle, top: FileHandle): Promise<Path[]> {
  const folders: Path[] = [];
  for (const name of await namesIn(`/proc/self/fd/${folder.fd}`)) {
    const path = inside(folder, name);
    if (await unlinkUnlessFolder(path)) continue;
    if (folder === top) {
      folders.push(name);
      continue;
    }
    // To move a folder changes its "..", which its owner may have forbidden.
    await (await openAsOwner(path)).close();
    const moved = `.removing-${randomUUID()}`;
    await rename(path, inside(top, moved));
    folders.push(moved);
  }
  return folders;
}

/** @returns whether there is nothing left of that name */
async function unlinkUnlessFolder(path: Path): Promise<boolean> {
  const found = await unlessGone(lstat(path));
  if (found?.isDirectory() === true) return false;
  if (found !== undefined) await unlessGone(unlink(path));
  return true;
}

/** A folder as a place for paths, in which this user may do everything. @throws ENOTDIR at a link */
async function openAsOwner(path: Path): Promise<FileHandle> {
  const folder = await open(path, O_PATH | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  const mode = (await folder.stat()).mode & 0o777;
  if ((mode & privateMode) !== privateMode) await chmod(`/proc/self/fd/${folder.fd}`, privateMode);
  return folder;
}
