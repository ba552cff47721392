/** Ensures that at most one supervisor uses a data folder. */
import { spawnSync } from 'node:child_process';
import { ftruncateSync, openSync, readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';

const nameOf = (folder: string): string => join(folder, 'supervisor.lock');

/** Locks the folder until this process exits. @throws Error that names the process that holds the lock */
export function holdFolder(folder: string): void {
  const file = nameOf(folder);
  const descriptor = openSync(file, 'a+', 0o600);
  // The `flock` program only acquires the lock. A flock(2) lock belongs to the open file description, which both
  // processes share. The kernel therefore releases the lock when this process exits.
  const { status, error } = spawnSync('flock', ['--nonblock', '3'], {
    stdio: ['ignore', 'ignore', 'ignore', descriptor],
  });
  if (error !== undefined) throw noFlock(error);
  if (status !== 0) {
    const holder = readFileSync(file, 'utf8').trim() || 'another process';
    throw new Error(
      `${folder} is in use by ${holder}; stop that process, or set ORCH_DATA_DIR to another folder`,
    );
  }
  ftruncateSync(descriptor);
  writeSync(descriptor, `process ${process.pid}, started ${new Date().toISOString()}\n`);
}

/** Waits until no process holds the folder, because the children of a killed process need time to exit.
 *  @throws Error that names the holder after `timeoutMs` */
export function untilFree(folder: string, timeoutMs: number): void {
  const file = nameOf(folder);
  const { status, error } = spawnSync('flock', ['--wait', String(timeoutMs / 1000), file, 'true']);
  if (error !== undefined) throw noFlock(error);
  if (status !== 0) throw new Error(`${folder} is in use by ${readFileSync(file, 'utf8').trim()}`);
}

function noFlock(cause: Error): Error {
  return new Error('flock is missing; install util-linux', { cause });
}
