/** A lock between the processes of this host that ends with its holder.
 *
 *  It is an optimization and not required for correctness: in a rare race between two processes that find the same
 *  dead holder, both may briefly hold it. */
import { randomUUID } from 'node:crypto';
import { mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isAlive, newOwner } from './owner.ts';

const OWNER_FILE = 'owner';

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}

/** Atomically creates a folder with its owner under the lock's name. */
async function place(folder: string, name: string): Promise<boolean> {
  const made = join(folder, `.${randomUUID()}`);
  await mkdir(made);
  await writeFile(join(made, OWNER_FILE), JSON.stringify(newOwner()));
  try {
    await rename(made, join(folder, name));
    return true;
  } catch (error) {
    await rm(made, { recursive: true, force: true });
    if (codeOf(error) !== 'ENOTEMPTY' && codeOf(error) !== 'EEXIST') throw error;
    return false;
  }
}

async function isHeld(folder: string, name: string): Promise<boolean> {
  try {
    const path = join(folder, name, OWNER_FILE);
    const [text, { mtimeMs }] = await Promise.all([readFile(path, 'utf8'), stat(path)]);
    return isAlive(text, Date.now() - mtimeMs);
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error;
    return false;
  }
}

async function clear(folder: string, name: string): Promise<void> {
  const away = join(folder, `.${randomUUID()}`);
  try {
    await rename(join(folder, name), away);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return;
    throw error;
  }
  await rm(away, { recursive: true, force: true });
}

/** Acquires the lock. Takes it over if its holder is dead.
 *  @returns a function that releases the lock; undefined while another process holds it */
export async function tryLock(
  folder: string,
  name: string,
): Promise<(() => Promise<void>) | undefined> {
  for (let attempt = 0; attempt < 3; attempt += 1) {
    if (await place(folder, name)) return () => clear(folder, name);
    if (await isHeld(folder, name)) return undefined;
    await clear(folder, name);
  }
  return undefined;
}
