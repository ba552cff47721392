/** Flushes whole folders to disk. Otherwise, a power loss could leave empty files under their final names, because a
 *  rename may reach the disk before the content. Node.js can flush only single files. */
import { execFile, execFileSync } from 'node:child_process';
import { promisify } from 'node:util';

const args = (path: string) => ['--file-system', path];

/** Flushes the whole file system that contains `path`.
 *  @throws Error if the disk fails */
export async function flushDisk(path: string): Promise<void> {
  await promisify(execFile)('sync', args(path));
}

/** The synchronous version of `flushDisk`. */
export function flushDiskSync(path: string): void {
  execFileSync('sync', args(path));
}
