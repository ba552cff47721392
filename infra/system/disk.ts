/** Reads the free disk space. */
import { statfs } from 'node:fs/promises';

export interface DiskSpace {
  /** The number of bytes available to this process. */
  readonly freeBytes: number;
  readonly totalBytes: number;
}

/** Returns the space on the disk that contains a folder.
 *  @returns undefined if the folder does not exist */
export async function diskSpace(folder: string): Promise<DiskSpace | undefined> {
  try {
    const { bavail, blocks, bsize } = await statfs(folder);
    return { freeBytes: bavail * bsize, totalBytes: blocks * bsize };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
