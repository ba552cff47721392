/** Flushes whole folders to the disk. Otherwise, a power loss may leave empty files under their final names: a rename
 *  may reach the disk before the content does. Node flushes only single files. */
import { execFile, execFileSync } from 'node:child_process';
import { promisify } from 'node:util';

const args = (path: string) => ['--file-system', path];

/** Writes everything on the file system of `path` to its disk. @throws Error if the disk fails */
export async function flushDisk(path: string): Promise<void> {
  await promisify(execFile)('sync', args(path));
}

/** The synchronous version. */
export function flushDiskSync(path: string): void {
  execFileSync('sync', args(path));
}
