/** How much room there is. */
import { statfs } from 'node:fs/promises';

export interface DiskSpace {
  /** For this process. */
  readonly freeBytes: number;
  readonly totalBytes: number;
}

/** Of the disk that a folder lies on; undefined where there is no such folder. */
export async function diskSpace(folder: string): Promise<DiskSpace | undefined> {
  try {
    const { bavail, blocks, bsize } = await statfs(folder);
    return { freeBytes: bavail * bsize, totalBytes: blocks * bsize };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
