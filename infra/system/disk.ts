/** Reads the free space of disks. */
import { statfs } from 'node:fs/promises';

export interface DiskSpace {
  /** The space that is available to this process, in bytes. */
  readonly freeBytes: number;
  readonly totalBytes: number;
}

/** The space on the disk of a folder; undefined if the folder does not exist. */
export async function diskSpace(folder: string): Promise<DiskSpace | undefined> {
  try {
    const { bavail, blocks, bsize } = await statfs(folder);
    return { freeBytes: bavail * bsize, totalBytes: blocks * bsize };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
