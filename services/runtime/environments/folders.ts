/** Makes folders that untrusted code wrote to read-only, and removes them, without following links. */
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

// Opens a path that may be unreadable. Node has no constant for this flag.
const O_PATH = 0o10000000;

/** A path may be a buffer, because untrusted code can choose file names that are not valid text. */
type Path = string | Buffer;

interface Found {
  readonly path: Path;
  readonly kind: 'folder' | 'file' | 'special';
  readonly mode: number;
  readonly sizeBytes: number;
}

/** The mode of a folder that only its owner can read. The sandbox gives runs access to such a folder. */
export const privateMode = 0o700;

/** Yields `folder` and everything in it. Each folder precedes its content. */
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

/** Returns the path of `name` inside an open folder. */
function inside(folder: FileHandle, name: Path): Buffer {
  return joined(`/proc/self/fd/${folder.fd}`, name);
}

/** Waits for `found`.
 *  @returns `undefined` if another process has removed the file */
async function unlessGone<T>(found: Promise<T>): Promise<T | undefined> {
  try {
    return await found;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** Makes all files in `folder` read-only. All users can read the files, or only the owner if the folder is private. The
 *  owner, which is this process's user, can still remove the folder. Runs see the whole folder as read-only.
 *  @returns the folder's size on disk, in bytes */
export async function makeReadOnly(folder: string, isPrivate: boolean): Promise<number> {
  const { uid: user, gid: group } = userInfo();
  let bytes = 0;
  const folders: Path[] = [];
  for await (const found of walk(folder)) {
    bytes += found.sizeBytes;
    if (found.kind === 'special') {
      // Removes special files without opening them, because opening a pipe left by a build would block forever.
      await unlink(found.path);
      continue;
    }
    // If this process runs as root, the build ran as another user, who owns the files.
    if (user === 0) await lchown(found.path, user, group);
    if (found.kind === 'folder') folders.push(found.path);
    else await chmod(found.path, (found.mode & 0o111) === 0 ? 0o444 : 0o555);
  }
  for (const path of folders) {
    await chmod(path, isPrivate && path === folder ? privateMode : 0o755);
  }
  return bytes;
}

/** Returns the size of `folder` on disk in bytes, or 0 if it does not exist. */
export async function sizeOf(folder: string): Promise<number> {
  let bytes = 0;
  try {
    for await (const found of walk(folder)) bytes += found.sizeBytes;
  } catch {
    // The folder changed during the measurement. A partial sum is accurate enough.
  }
  return bytes;
}

/** Removes a folder, even a read-only one, or any other file with that name. All removals are relative to open folders.
 *  A link that untrusted code creates in the meantime is removed, but not followed. A missing folder is not an error.
 *  @throws ENOTEMPTY if untrusted code creates files during the removal */
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

/** Empties a folder: removes its files, and moves its subfolders to `top`. The tree may have any depth, and paths may
 *  have any length.
 *  @returns the names of the subfolders in `top` */
async function emptyInto(folder: FileHandle, top: FileHandle): Promise<Path[]> {
  const folders: Path[] = [];
  for (const name of await namesIn(`/proc/self/fd/${folder.fd}`)) {
    const path = inside(folder, name);
    if (await unlinkUnlessFolder(path)) continue;
    if (folder === top) {
      folders.push(name);
      continue;
    }
    // Moving a folder changes its ".." entry, which requires write permission for the folder.
    await (await openAsOwner(path)).close();
    const moved = `.removing-${randomUUID()}`;
    await rename(path, inside(top, moved));
    folders.push(moved);
  }
  return folders;
}

/** Removes a path unless it is a folder.
 *  @returns whether the path no longer exists */
async function unlinkUnlessFolder(path: Path): Promise<boolean> {
  const found = await unlessGone(lstat(path));
  if (found?.isDirectory() === true) return false;
  if (found !== undefined) await unlessGone(unlink(path));
  return true;
}

/** Opens a folder, and gives this process's user full access.
 *  @throws ENOTDIR for a link */
async function openAsOwner(path: Path): Promise<FileHandle> {
  const folder = await open(path, O_PATH | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  const mode = (await folder.stat()).mode & 0o777;
  if ((mode & privateMode) !== privateMode) await chmod(`/proc/self/fd/${folder.fd}`, privateMode);
  return folder;
}
