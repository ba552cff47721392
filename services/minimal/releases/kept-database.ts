/** Keeps a copy of the database before another release changes the schema, because migrations cannot be reversed.
 *  The copy is in the same folder as the database, so that one rename restores it. */
import { execFileSync } from 'node:child_process';
import { existsSync, lstatSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { clusterFolder } from '#infra/embedded/postgres.ts';
import { stopLeftover } from '#infra/embedded/stop-server.ts';
import { flushDiskSync } from '#infra/system/flush-disk.ts';
import { untilFree } from '#services/shared/hold.ts';

const databaseOf = (dataDir: string) => clusterFolder(join(dataDir, 'postgres'));
const keptOf = (dataDir: string) => `${databaseOf(dataDir)}-before`;
/** The path of the newer release's database while the older release is tested with the copy. */
const asideOf = (dataDir: string) => `${databaseOf(dataDir)}-after`;

/** Waits until no program uses the data folder, and stops a leftover database server.
 *  @throws Error that names the folder's owner after `timeoutMs` */
export async function untilStopped(dataDir: string, timeoutMs: number): Promise<void> {
  untilFree(dataDir, timeoutMs);
  await stopLeftover(join(databaseOf(dataDir), 'data'));
}

/** Copies the stopped database. An incomplete copy is replaced.
 *  @returns the copy's folder and size in bytes, or `undefined` if there is no database */
export function keepDatabase(
  dataDir: string,
): { readonly folder: string; readonly sizeBytes: number } | undefined {
  const [database, kept] = [databaseOf(dataDir), keptOf(dataDir)];
  if (!existsSync(database)) return undefined;
  const part = `${kept}.part`;
  rmSync(part, { recursive: true, force: true });
  execFileSync('cp', ['-a', '--reflink=auto', database, part]);
  // A complete copy must survive a power loss, because it may replace the database. Therefore it is flushed to disk
  // before the rename.
  flushDiskSync(part);
  renameSync(part, kept);
  return { folder: kept, sizeBytes: sizeOf(kept) };
}

/** Replaces the database with the copy, if a copy exists. Idempotent. */
export function restoreKeptDatabase(dataDir: string): void {
  const [database, kept] = [databaseOf(dataDir), keptOf(dataDir)];
  if (!existsSync(kept)) return;
  rmSync(database, { recursive: true, force: true });
  renameSync(kept, database);
}

/** Replaces the database with the copy, and keeps the replaced database for `exchangeBack`. Idempotent.
 *  @throws Error if there is no copy */
export function exchangeDatabase(dataDir: string): void {
  const [database, kept, aside] = [databaseOf(dataDir), keptOf(dataDir), asideOf(dataDir)];
  if (!existsSync(aside)) {
    if (!existsSync(kept)) throw new Error(`The copy of the database at ${kept} does not exist`);
    renameSync(database, aside);
  }
  if (existsSync(kept)) renameSync(kept, database);
}

/** Undoes `exchangeDatabase`, even if it was interrupted. Idempotent. */
export function exchangeBack(dataDir: string): void {
  const [database, kept, aside] = [databaseOf(dataDir), keptOf(dataDir), asideOf(dataDir)];
  if (!existsSync(aside)) return;
  if (existsSync(database)) renameSync(database, kept);
  renameSync(aside, database);
}

/** Removes the database that `exchangeDatabase` replaced. Does nothing if it does not exist. */
export function removeSetAside(dataDir: string): void {
  rmSync(asideOf(dataDir), { recursive: true, force: true });
}

/** Removes the copy. Does nothing if it does not exist. */
export function removeKeptDatabase(dataDir: string): void {
  rmSync(keptOf(dataDir), { recursive: true, force: true });
}

function sizeOf(folder: string): number {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => lstatSync(join(folder, name)).size)
    .reduce((sum, size) => sum + size, 0);
}
