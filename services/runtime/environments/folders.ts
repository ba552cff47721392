/** Finishing and removing folders that foreign code wrote into: no link is followed. */
import { chmod, lchown, lstat, readdir, rm } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { join } from 'node:path';

interface Found {
  readonly path: string;
  readonly kind: 'folder' | 'file';
  readonly mode: number;
  readonly sizeBytes: number;
}

/** Everything below `folder` and itself; a folder comes before what it holds. */
async function* walk(folder: string): AsyncGenerator<Found> {
  const waiting = [folder];
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    const stats = await unlessGone(lstat(path));
    if (stats === undefined) continue;
    const sizeBytes = stats.blocks * 512;
    if (stats.isDirectory()) {
      yield { path, kind: 'folder', mode: stats.mode, sizeBytes };
      for (const name of (await unlessGone(readdir(path))) ?? []) waiting.push(join(path, name));
    } else if (stats.isFile()) {
      yield { path, kind: 'file', mode: stats.mode, sizeBytes };
    }
  }
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

/** Makes everything in `folder` readable for all, and its files writable for nobody. Runs see it
 *  read-only as a whole; its owner, this process's user, can still remove it like any folder of his.
 *  @returns what it takes on the disk, in bytes */
export async function makeReadOnly(folder: string): Promise<number> {
  const { uid: user, gid: group } = userInfo();
  let bytes = 0;
  const folders: string[] = [];
  for await (const found of walk(folder)) {
    bytes += found.sizeBytes;
    // As user 0 this process had it built by another user.
    if (user === 0) await lchown(found.path, user, group);
    if (found.kind === 'folder') folders.push(found.path);
    else await chmod(found.path, (found.mode & 0o111) === 0 ? 0o444 : 0o555);
  }
  for (const path of folders) await chmod(path, 0o755);
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

/** Removes a folder, also one that was made read-only. One that is not there is fine. */
export async function removeFolder(folder: string): Promise<void> {
  try {
    await rm(folder, { recursive: true, force: true });
  } catch {
    for await (const found of walk(folder)) {
      if (found.kind === 'folder') await chmod(found.path, 0o700);
    }
    await rm(folder, { recursive: true, force: true });
  }
}
