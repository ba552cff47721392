/**
 * Folders that belong to one process, which removes them when it exits. If the process is killed, the next process on
 * this host removes its folders. Each folder's name identifies its owner, so a folder never exists without an owner.
 */
import { createHash } from 'node:crypto';
import { accessSync, constants, statfsSync } from 'node:fs';
import { lstat, mkdtemp, readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Logger } from '#services/shared/logger.ts';
import { removeFolder } from './environments/folders.ts';
import { startedTicks, thisProcess } from './environments/owner.ts';

const inMemory = ['/run', '/dev/shm'];
const TMPFS = 0x01021994;

/** The parent folder for sockets that only this process uses. It is the configured temporary folder, or else a
 *  folder in memory, where the file system is faster. An ordinary user does not get a folder in memory, because the
 *  folder may be removed when the user logs out. */
export const socketsParent =
  process.env['TMPDIR'] === undefined && process.getuid?.() === 0
    ? (inMemory.find(isWritableMemory) ?? tmpdir())
    : tmpdir();

/** Returns the parent folder for sockets to which scripts connect. Other scripts must not be able to replace these
 *  sockets.
 *  @param layers the layers for runs. Runs without a separate root may be able to write to folders in memory */
export function hiddenSocketsParent(layers: readonly string[]): string {
  return layers.includes('mount_namespace') ? socketsParent : tmpdir();
}

function isWritableMemory(path: string): boolean {
  try {
    accessSync(path, constants.W_OK);
    return statfsSync(path).type === TMPFS;
  } catch {
    return false;
  }
}

/** Creates a folder for this process. Its name begins with `kind`. */
export async function makeOwnFolder(parent: string, kind: string): Promise<string> {
  return await mkdtemp(join(parent, `${kind}-${mark()}-`));
}

/** Removes the folders in `parent` whose processes have exited. Keeps folders whose owners are alive or unknown. A
 *  folder that another process changes during the removal is kept until the next start.
 *  @param remove removes one folder
 *  @returns the paths of the removed folders */
export async function removeLeftFolders(
  parent: string,
  remove = removeFolder,
): Promise<readonly string[]> {
  const removed: string[] = [];
  for (const name of await readdir(parent)) {
    const owner = OWN.exec(name)?.[1];
    if (owner === undefined || !hasEnded(owner)) continue;
    const path = join(parent, name);
    // Skips other users' folders. In a shared parent, another user may have created a folder with such a name.
    const found = await lstat(path).catch(() => undefined);
    if (found?.isDirectory() !== true || found.uid !== process.getuid?.()) continue;
    if (await isUndisturbed(remove(path))) removed.push(path);
  }
  return removed;
}

/** Error codes that occur if another process creates files in the folder, or removes it, at the same time. */
const disturbances: ReadonlySet<string | undefined> = new Set(['ENOTEMPTY', 'ENOENT']);

async function isUndisturbed(removal: Promise<void>): Promise<boolean> {
  try {
    await removal;
    return true;
  } catch (error) {
    if (disturbances.has((error as NodeJS.ErrnoException).code)) return false;
    throw error;
  }
}

/** Removes leftover sockets of killed runtimes, and leftover copies of scripts in the folders below `projects`. The
 *  launcher removes leftover run folders when it starts. Opening the environments removes unfinished environments. */
export async function removeLeftovers(
  projects: string,
  logger: Pick<Logger, 'info'>,
): Promise<void> {
  const scripts = (await readdir(projects)).map((name) => join(projects, name));
  for (const parent of new Set([socketsParent, tmpdir(), ...scripts])) {
    const removed = await removeLeftFolders(parent);
    if (removed.length > 0) logger.info({ removed }, 'removed leftovers of a killed runtime');
  }
}

const OWN = /-([0-9a-z]+\.[0-9a-z]+\.[0-9a-f]{8}\.[0-9a-z]+)-[0-9A-Za-z]{6}$/;

/** Returns a short name, because a Unix socket path has at most 107 bytes. */
function mark(): string {
  const { pid, startedTicks: ticks } = thisProcess();
  return [base36(pid), base36(Number(ticks)), boot(), namespace()].join('.');
}

function hasEnded(owner: string): boolean {
  const [pid = '', ticks, itsBoot, itsNamespace] = owner.split('.');
  if (itsBoot !== boot()) return true;
  // A process ID is only valid within its namespace, such as a container.
  if (itsNamespace !== namespace()) return false;
  const started = startedTicks(Number.parseInt(pid, 36));
  return started === undefined || base36(Number(started)) !== ticks;
}

function boot(): string {
  return createHash('sha256').update(thisProcess().bootId).digest('hex').slice(0, 8);
}

function namespace(): string {
  return base36(Number(/\d+/.exec(thisProcess().pidNamespace)?.[0]));
}

function base36(number: number): string {
  return number.toString(36);
}
