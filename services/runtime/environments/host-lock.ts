/**
 * A lock between processes on this host. The lock is released when its holder exits. If two processes detect a dead
 * holder at the same time, both may briefly hold the lock. This is harmless, because the lock only avoids duplicate
 * work.
 */
import { randomUUID } from 'node:crypto';
import { mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isAlive, newOwner } from './owner.ts';

const OWNER_FILE = 'owner';

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}

/** Creates the lock, a folder that names its owner. The creation is atomic. */
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

/** Acquires the lock, or takes it over if its holder is dead.
 *  @returns a function that releases the lock, or undefined while another process holds it */
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
