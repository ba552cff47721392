/** The database as it was before another release changed its schema: migrations go forward only. The copy lies beside
 *  what it is of, wherever that is, so that it comes back by one rename. */
import { execFileSync } from 'node:child_process';
import { existsSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { clusterFolder } from '#infra/embedded/postgres.ts';
import { stopLeftover } from '#infra/embedded/stop-server.ts';
import { untilFree } from '#services/shared/hold.ts';

const databaseOf = (dataDir: string) => clusterFolder(join(dataDir, 'postgres'));
const keptOf = (dataDir: string) => `${databaseOf(dataDir)}-before`;

/** Waits until no program works on the data folder, and ends a database that one has left.
 *  @throws Error naming who has the folder still after `patienceMs` */
export async function untilStill(dataDir: string, patienceMs: number): Promise<void> {
  untilFree(dataDir, patienceMs);
  await stopLeftover(join(databaseOf(dataDir), 'data'));
}

/** Copies the database, which stands still. A copy that was cut by a death is made anew. */
export function keepDatabase(dataDir: string): void {
  const [database, kept] = [databaseOf(dataDir), keptOf(dataDir)];
  if (!existsSync(database)) return;
  const part = `${kept}.part`;
  rmSync(part, { recursive: true, force: true });
  execFileSync('cp', ['-a', '--reflink=auto', database, part]);
  renameSync(part, kept);
}

/** Takes the copy in the place of the database, where there is one. Done twice it ends the same. */
export function bringDatabaseBack(dataDir: string): void {
  const [database, kept] = [databaseOf(dataDir), keptOf(dataDir)];
  if (!existsSync(kept)) return;
  rmSync(database, { recursive: true, force: true });
  renameSync(kept, database);
}

/** Removes the copy. Safe where there is none. */
export function forgetDatabase(dataDir: string): void {
  rmSync(keptOf(dataDir), { recursive: true, force: true });
}
