/** Opens folders below a root one path segment at a time, each relative to its parent. A symbolic link is never
 *  followed, even if another program creates one at the same time. Node has no `openat`; on Linux,
 *  `/proc/self/fd/N/name` is the equivalent. */
import { constants } from 'node:fs';
import { lstat, mkdir, open, type FileHandle } from 'node:fs/promises';

const FOLDER = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;

/** A path contains a symbolic link or a device instead of a regular folder or file. */
export class NotPlain extends Error {
  override readonly name = 'NotPlain';
}

/** Returns the path of `name` inside an open folder. */
export function inside(folder: FileHandle, name: string): string {
  return `/proc/self/fd/${folder.fd}/${name}`;
}

export function errorCode(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string'
    ? error.code
    : undefined;
}

async function openChild(parent: FileHandle, name: string): Promise<FileHandle> {
  const path = inside(parent, name);
  try {
    return await open(path, FOLDER);
  } catch (error) {
    const code = errorCode(error);
    if (code !== 'ENOTDIR' && code !== 'ELOOP') throw error;
    const found = await lstat(path);
    if (found.isSymbolicLink()) throw new NotPlain(`${name} is a link`, { cause: error });
    throw error;
  }
}

async function makeChild(parent: FileHandle, name: string): Promise<FileHandle> {
  try {
    await mkdir(inside(parent, name), 0o700);
    await parent.sync();
  } catch (error) {
    // Another writer has created the folder in the meantime.
    if (errorCode(error) !== 'EEXIST') throw error;
  }
  return openChild(parent, name);
}

/** Opens the folder `root/part/part…`. The caller must close it.
 *  @param create whether to create missing folders durably
 *  @throws NotPlain if the path contains a link; ENOENT if a folder is missing; ENOTDIR if a file is in its place */
export async function openFolder(
  root: string,
  parts: readonly string[],
  create: boolean,
): Promise<FileHandle> {
  let folder = await open(root, constants.O_RDONLY | constants.O_DIRECTORY);
  for (const part of parts) {
    const parent = folder;
    try {
      folder = await openChild(parent, part).catch((error: unknown) => {
        if (!create || errorCode(error) !== 'ENOENT') throw error;
        return makeChild(parent, part);
      });
    } finally {
      await parent.close();
    }
  }
  return folder;
}
