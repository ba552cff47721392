/** The environments on this host, their users, and their eviction. A user is a process that uses an environment.
 *
 *  folder/environments/{key}-{id}   an environment, built at its final path because its scripts contain the path
 *  folder/ready/{key}               refers to the finished environment; the first builder to finish creates it
 *  folder/uses/{directory}.{id}     one file for each user, including the builder
 *  folder/work/{directory}          temporary files of a build
 *  folder/locks/{key}               held by the builder
 *
 *  Only environments in `ready` are valid. A folder without an entry in `ready` or a live user is a leftover. A user
 *  first writes its file, and then checks whether the environment is still ready. The eviction first removes the entry
 *  in `ready`, and then checks for users. Therefore, the two can never both succeed. */
import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { chmod, link, mkdir, open, readdir, readFile, stat, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { flushDisk } from '#infra/system/flush-disk.ts';
import { privateMode, removeFolder } from './folders.ts';
import { isAlive, newOwner } from './owner.ts';

export interface ReadyEnvironment {
  readonly directory: string;
  /** The installed packages as `name==version` lines. */
  readonly lock: string;
  readonly sizeBytes: number;
  /** The script that owns the environment. Absent if scripts with equal requirements share the environment. */
  readonly scriptId?: string;
}

export interface Lease {
  readonly environment: ReadyEnvironment;
  /** Releases the environment for eviction. Idempotent. */
  release(): void;
}

export interface Bounds {
  readonly maxEnvironments: number;
  readonly maxBytes: number;
}

const PARTS = ['environments', 'ready', 'uses', 'work', 'locks'] as const;
const PASSED_THROUGH: ReadonlySet<string> = new Set(['environments', 'work']);
// The maximum age of names that begin with a dot. These are temporary and renamed within seconds, unless their creator
// has crashed.
const UNFINISHED_MAX_AGE_MS = 60 * 60 * 1000;

export class Catalog {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  async open(): Promise<void> {
    for (const part of PARTS) {
      await mkdir(this.path(part), { recursive: true });
      // Scripts and builds may run as other users, who must be able to pass through this folder.
      await chmod(this.path(part), PASSED_THROUGH.has(part) ? 0o711 : privateMode);
    }
    await this.#closePrivate();
    await this.#removeLeftOver();
    await this.#removeUnfinished('ready');
    await this.#removeUnfinished('locks');
  }

  path(part: (typeof PARTS)[number], ...names: readonly string[]): string {
    return join(this.#folder, part, ...names);
  }

  /** Registers a use of a folder, which may not exist yet.
   *  @returns a function that removes the registration */
  use(directory: string): () => void {
    const owner = newOwner();
    const path = this.path('uses', `${directory}.${owner.id}`);
    writeFileSync(path, JSON.stringify(owner));
    return () => rmSync(path, { force: true });
  }

  /** Returns a key's finished environment, and keeps it until the lease is released. Returns undefined if the key
   *  has no environment. */
  lease(key: string): Lease | undefined {
    // Synchronous reads of these tiny files are faster than waiting for a thread.
    const environment = this.#ready(key);
    if (environment === undefined) return undefined;
    const release = this.use(environment.directory);
    const still = this.#ready(key);
    if (still?.directory === environment.directory) {
      this.#touch(key);
      return { environment, release };
    }
    release();
    return this.lease(key);
  }

  /** Whether a key has a finished environment. */
  has(key: string): boolean {
    return this.#ready(key) !== undefined;
  }

  /** Publishes an environment under its key, unless the key already has one. First flushes the files to disk,
   *  because a published environment is never checked again. */
  async publish(key: string, environment: ReadyEnvironment): Promise<void> {
    await flushDisk(this.path('environments'));
    const written = this.path('ready', `.${randomUUID()}`);
    try {
      await using file = await open(written, 'wx', 0o644);
      await file.writeFile(JSON.stringify(environment));
      await file.sync();
      await link(written, this.path('ready', key));
    } catch (error) {
      if (codeOf(error) !== 'EEXIST') throw error;
    } finally {
      await unlink(written).catch(ignoreMissing);
    }
  }

  /** Removes unused environments until the rest are within the limits, the least recently used first. Keeps the
   *  newest environment. */
  async evict({ maxEnvironments, maxBytes }: Bounds): Promise<void> {
    const found = await Promise.all((await this.#keys()).map((key) => this.#lastUse(key)));
    const oldestFirst = found
      .filter((each) => each !== undefined)
      .toSorted((a, b) => a.lastUsedMs - b.lastUsedMs);
    let count = oldestFirst.length;
    let bytes = oldestFirst.reduce((sum, each) => sum + each.sizeBytes, 0);
    for (const { key, sizeBytes } of oldestFirst.slice(0, -1)) {
      if (count <= maxEnvironments && bytes <= maxBytes) return;
      if (!(await this.#remove(key))) continue;
      count -= 1;
      bytes -= sizeBytes;
    }
  }

  /** Returns the scripts that have private environments. */
  async owners(): Promise<readonly string[]> {
    const found = (await this.#keys()).map((key) => this.#ready(key)?.scriptId);
    return found.filter((scriptId) => scriptId !== undefined);
  }

  /** Removes a script's private environments unless they are in use.
   *  @returns whether all of them were removed */
  async removeOwned(scriptId: string): Promise<boolean> {
    let isDone = true;
    for (const key of await this.#keys()) {
      if (this.#ready(key)?.scriptId !== scriptId) continue;
      isDone = (await this.#remove(key)) && isDone;
    }
    return isDone;
  }

  async #remove(key: string): Promise<boolean> {
    const environment = this.#ready(key);
    if (environment === undefined || (await this.#isUsed(environment.directory))) return false;
    await unlink(this.path('ready', key)).catch(ignoreMissing);
    if (await this.#isUsed(environment.directory)) {
      await this.publish(key, environment);
      return false;
    }
    await removeFolder(this.path('environments', environment.directory));
    return true;
  }

  /** Returns the entry of a key in `ready`. Removes an entry that is unreadable, for example after a power loss, or
   *  whose folder does not exist. The environment is then built again. */
  #ready(key: string): ReadyEnvironment | undefined {
    const path = this.path('ready', key);
    const text = orMissing(() => readFileSync(path, 'utf8'));
    if (text === undefined) return undefined;
    const environment = parseEnvironment(text);
    const folder = environment && this.path('environments', environment.directory);
    if (folder !== undefined && existsSync(folder)) return environment;
    rmSync(path, { force: true });
    return undefined;
  }

  /** Records that a key is in use. Eviction removes the least recently used environments. */
  #touch(key: string): void {
    const now = new Date();
    orMissing(() => utimesSync(this.path('ready', key), now, now));
  }

  async #keys(): Promise<string[]> {
    return (await readdir(this.path('ready'))).filter((name) => !name.startsWith('.'));
  }

  async #lastUse(key: string) {
    const environment = this.#ready(key);
    const stats = await stat(this.path('ready', key)).catch(ignoreMissing);
    if (environment === undefined || stats === undefined) return undefined;
    return { key, sizeBytes: environment.sizeBytes, lastUsedMs: stats.mtimeMs };
  }

  /** Whether a live process uses a folder. Also removes the records of processes that have exited. */
  async #isUsed(directory: string): Promise<boolean> {
    let isUsed = false;
    for (const name of await readdir(this.path('uses'))) {
      if (!name.startsWith(`${directory}.`)) continue;
      const path = this.path('uses', name);
      const text = await readFile(path, 'utf8').catch(ignoreMissing);
      const stats = await stat(path).catch(ignoreMissing);
      if (text === undefined || stats === undefined) continue;
      if (isAlive(text, Date.now() - stats.mtimeMs)) isUsed = true;
      else rmSync(path, { force: true });
    }
    return isUsed;
  }

  /** Removes other users' permissions for private environments, which an earlier version of the platform granted. */
  async #closePrivate(): Promise<void> {
    for (const key of await this.#keys()) {
      const environment = this.#ready(key);
      if (environment?.scriptId === undefined) continue;
      const path = this.path('environments', environment.directory);
      if (((await stat(path)).mode & 0o007) !== 0) await chmod(path, privateMode);
    }
  }

  async #removeLeftOver(): Promise<void> {
    const directories = new Set([
      ...(await readdir(this.path('environments'))),
      ...(await readdir(this.path('work'))),
      ...(await readdir(this.path('uses'))).map((name) => name.slice(0, name.lastIndexOf('.'))),
    ]);
    for (const directory of directories) {
      // Checks the uses after `ready`, because a builder releases the environment only after publishing it.
      if (await this.#isUsed(directory)) continue;
      await removeFolder(this.path('work', directory));
      const environment = this.#ready(directory.slice(0, directory.lastIndexOf('-')));
      if (environment?.directory === directory) continue;
      await removeFolder(this.path('environments', directory));
    }
  }

  async #removeUnfinished(part: 'ready' | 'locks'): Promise<void> {
    for (const name of await readdir(this.path(part))) {
      if (!name.startsWith('.')) continue;
      const stats = await stat(this.path(part, name)).catch(ignoreMissing);
      const isOld = stats !== undefined && Date.now() - stats.mtimeMs > UNFINISHED_MAX_AGE_MS;
      if (isOld) await removeFolder(this.path(part, name));
    }
  }
}

function parseEnvironment(text: string): ReadyEnvironment | undefined {
  try {
    return JSON.parse(text) as ReadyEnvironment;
  } catch {
    return undefined;
  }
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}

function orMissing<T>(act: () => T): T | undefined {
  try {
    return act();
  } catch (error) {
    return ignoreMissing(error);
  }
}

function ignoreMissing(error: unknown): undefined {
  if (codeOf(error) !== 'ENOENT') throw error;
}
