/** Folders that are one process's and go with it. Where that was killed, the next one on this host removes
 *  them: whose a folder is stands in its name, so that none is without an owner for a moment. */
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

/** Where folders of sockets are made on which nobody but this process is heard: the temporary folder that it was given,
 *  else one in memory, where a file system does less for each of them. What an ordinary user has in memory may be
 *  removed when that user logs out. */
export const socketsParent =
  process.env['TMPDIR'] === undefined && process.getuid?.() === 0
    ? (inMemory.find(isWritableMemory) ?? tmpdir())
    : tmpdir();

/** The same for sockets to which scripts connect, so that no other script may take their place.
 *  @param layers that runs have: those without a root of their own may write to what is in memory */
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

/** Makes a folder of this process alone, whose name begins with `kind`. */
export async function makeOwnFolder(parent: string, kind: string): Promise<string> {
  return await mkdtemp(join(parent, `${kind}-${mark()}-`));
}

/** Removes the folders in `parent` whose processes are gone; those of living ones stay, and those of which
 *  that cannot be known. A folder that another process changes meanwhile stays until the next start.
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
    // In a folder that is everybody's, others may have made one of such a name.
    const found = await lstat(path).catch(() => undefined);
    if (found?.isDirectory() !== true || found.uid !== process.getuid?.()) continue;
    if (await isUndisturbed(remove(path))) removed.push(path);
  }
  return removed;
}

/** Codes of a removal that met another process in the folder: one that makes files there or removes it too. */
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

/** What killed runtimes left of sockets, and of copies of scripts in the folders below `projects`. What is
 *  left of runs goes with the launcher's start, unfinished environments when those are opened. */
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

/** Short, because the path of a Unix socket has at most 107 bytes. */
function mark(): string {
  const { pid, startedTicks: ticks } = thisProcess();
  return [base36(pid), base36(Number(ticks)), boot(), namespace()].join('.');
}

function hasEnded(owner: string): boolean {
  const [pid = '', ticks, itsBoot, itsNamespace] = owner.split('.');
  if (itsBoot !== boot()) return true;
  // Numbers of processes mean something only within one namespace, such as a container.
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
