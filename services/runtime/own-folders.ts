/** Folders that belong to one process, which removes them when it ends. If the process is killed, the next process on
 *  this host removes them. The name of each folder contains its owner, so that no folder is ever without an owner. */
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

/** The parent folder for sockets that only this process uses: the configured temporary folder, or else a folder in
 *  memory, where the file system is faster. An ordinary user does not get a folder in memory, because it may be removed
 *  when the user logs out. */
export const socketsParent =
  process.env['TMPDIR'] === undefined && process.getuid?.() === 0
    ? (inMemory.find(isWritableMemory) ?? tmpdir())
    : tmpdir();

/** The parent folder for sockets that scripts connect to. Other scripts must not be able to replace these.
 *  @param layers of runs. Without a separate root, runs may write to folders in memory */
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

/** Creates a folder for this process only, whose name begins with `kind`. */
export async function makeOwnFolder(parent: string, kind: string): Promise<string> {
  return await mkdtemp(join(parent, `${kind}-${mark()}-`));
}

/** Removes the folders in `parent` whose processes have ended. Keeps folders of live and of unknown processes. A folder
 *  that another process changes in the meantime is kept until the next start.
 *  @param remove removes one folder
 *  @returns the paths of removed folders */
export async function removeLeftFolders(
  parent: string,
  remove = removeFolder,
): Promise<readonly string[]> {
  const removed: string[] = [];
  for (const name of await readdir(parent)) {
    const owner = OWN.exec(name)?.[1];
    if (owner === undefined || !hasEnded(owner)) continue;
    const path = join(parent, name);
    // Skips folders of other users, who may have created a folder with such a name in a shared parent.
    const found = await lstat(path).catch(() => undefined);
    if (found?.isDirectory() !== true || found.uid !== process.getuid?.()) continue;
    if (await isUndisturbed(remove(path))) removed.push(path);
  }
  return removed;
}

/** Error codes if another process creates files in the folder or removes it concurrently. */
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

/** Removes sockets of killed runtimes, and copies of scripts in the folders below `projects`. The launcher removes the
 *  folders of killed runs when it starts. Opening the environments removes unfinished environments. */
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

/** A short name, because the path of a Unix socket has at most 107 bytes. */
function mark(): string {
  const { pid, startedTicks: ticks } = thisProcess();
  return [base36(pid), base36(Number(ticks)), boot(), namespace()].join('.');
}

function hasEnded(owner: string): boolean {
  const [pid = '', ticks, itsBoot, itsNamespace] = owner.split('.');
  if (itsBoot !== boot()) return true;
  // Process IDs are valid within one namespace only, such as a container.
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
