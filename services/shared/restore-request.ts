/**
 * Requests a restore in the minimal edition through a file in the data folder, for which the supervisor watches. The
 * file remains until the restore has finished, so that an interrupted restore is retried.
 */
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export interface RestoreRequest {
  readonly backupId: string;
  /** The number of attempts so far, or undefined before the first attempt. */
  readonly attempts?: number;
}

/** Requests a restore, unless a restore has already been requested. */
export function requestRestore(dataDir: string, request: RestoreRequest): void {
  if (requestedRestore(dataDir) === undefined) writeRestoreRequest(dataDir, request);
}

/** Returns the requested restore, or undefined if none exists. */
export function requestedRestore(dataDir: string): RestoreRequest | undefined {
  try {
    return JSON.parse(readFileSync(fileIn(dataDir), 'utf8')) as RestoreRequest;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** Writes the request file atomically. */
export function writeRestoreRequest(dataDir: string, request: RestoreRequest): void {
  const file = fileIn(dataDir);
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  writeFileSync(`${file}.new`, `${JSON.stringify(request)}\n`, { mode: 0o600, flush: true });
  renameSync(`${file}.new`, file);
}

/** Removes the request file after the restore has finished. */
export function removeRestoreRequest(dataDir: string): void {
  rmSync(fileIn(dataDir), { force: true });
}

function fileIn(dataDir: string): string {
  return join(dataDir, 'restore-request.json');
}
