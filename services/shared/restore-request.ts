/** How a restore is asked for in the minimal edition: by a file in the data folder, which its supervisor looks for.
 *  It stays until the restore has ended, so that one that was interrupted begins anew. */
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export interface RestoreRequest {
  readonly backupId: string;
  /** How often it was begun. Absent: never. */
  readonly attempts?: number;
}

/** Asks for it; one that is asked for already stays as it is. */
export function askForRestore(dataDir: string, request: RestoreRequest): void {
  if (restoreAskedFor(dataDir) === undefined) noteRestore(dataDir, request);
}

/** What is asked for; undefined for nothing. */
export function restoreAskedFor(dataDir: string): RestoreRequest | undefined {
  try {
    return JSON.parse(readFileSync(fileIn(dataDir), 'utf8')) as RestoreRequest;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** Writes it, whole or not at all. */
export function noteRestore(dataDir: string, request: RestoreRequest): void {
  const file = fileIn(dataDir);
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  writeFileSync(`${file}.new`, `${JSON.stringify(request)}\n`, { mode: 0o600, flush: true });
  renameSync(`${file}.new`, file);
}

/** It has ended. */
export function forgetRestore(dataDir: string): void {
  rmSync(fileIn(dataDir), { force: true });
}

function fileIn(dataDir: string): string {
  return join(dataDir, 'restore-request.json');
}
