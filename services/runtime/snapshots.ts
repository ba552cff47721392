/** Provides the files of a script version as immutable copies on this machine. Each script has a folder, so that its
 *  copies can be removed together. */
import { createHash, randomUUID } from 'node:crypto';
import { utimesSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ScriptId } from '#domain/kernel/ids.ts';
import { objectKey } from '#domain/ports/object-keys.ts';
import type { ObjectStore } from '#domain/ports/objects.ts';
import type { ReadModels } from '#projections/projection.ts';
import { listFiles, type ScriptFileView } from '#projections/scripts/files.ts';
import type { RunFile } from './sandbox/sandbox.ts';

const fileMode = 0o644;
const unusedForMs = 7 * 24 * 60 * 60 * 1000;
/** The maximum number of cached file lists, and the maximum number of files in a cached list. A version's list never
 *  changes. */
const maxLists = 200;
const maxListed = 200;
const maxVerified = 10_000;

type FileList = readonly Pick<ScriptFileView, 'path' | 'sha256'>[];

export class Snapshots {
  readonly #folder: string;
  readonly #objects: ObjectStore;
  readonly #reads: ReadModels;
  /** Cached file lists by script and version. The most recently cached list is last. */
  readonly #lists = new Map<string, FileList>();
  /** Copies whose hash this process has verified. After a power loss, copies may be empty. */
  readonly #verified = new Set<string>();

  private constructor(folder: string, objects: ObjectStore, reads: ReadModels) {
    this.#folder = folder;
    this.#objects = objects;
    this.#reads = reads;
  }

  /** Opens the cache in `folder`, and removes files that have not been used for a week. */
  static async open(folder: string, objects: ObjectStore, reads: ReadModels): Promise<Snapshots> {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
      const path = join(entry.parentPath, entry.name);
      if (entry.isFile() && Date.now() - (await stat(path)).mtimeMs > unusedForMs) {
        await rm(path, { force: true });
      }
    }
    return new Snapshots(folder, objects, reads);
  }

  /** Returns all files of the version.
   *  @throws if the content of any file is unavailable, because the run must not start with missing files */
  async of(scriptId: ScriptId, version: number): Promise<readonly RunFile[]> {
    const files = await this.#listOf(scriptId, version);
    return await Promise.all(
      files.map(async ({ path, sha256 }) => ({
        path,
        source: await this.#copyOf(scriptId, sha256),
        mode: fileMode,
      })),
    );
  }

  async #listOf(scriptId: ScriptId, version: number): Promise<FileList> {
    const key = `${scriptId} ${version}`;
    const list = this.#lists.get(key) ?? (await listFiles(this.#reads, scriptId, { version }));
    this.#lists.delete(key);
    if (list.length <= maxListed) this.#lists.set(key, list);
    const [oldest = ''] = this.#lists.keys();
    if (this.#lists.size > maxLists) this.#lists.delete(oldest);
    return list;
  }

  async #copyOf(scriptId: ScriptId, sha256: string): Promise<string> {
    const folder = join(this.#folder, scriptId);
    const path = join(folder, sha256);
    // Updates the copy's timestamp synchronously, which is faster than waiting for a thread at the start of each run.
    if (touch(path) && (await this.#isWhole(path, sha256))) return path;
    const bytes = await this.#objects.get(objectKey.scriptBlob(scriptId, sha256));
    if (bytes === undefined) throw new Error(`content ${sha256} of ${scriptId} is missing`);
    if (sha256Of(bytes) !== sha256) {
      throw new Error(`content ${sha256} of ${scriptId} is damaged`);
    }
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const incoming = join(folder, `.${randomUUID()}`);
    await writeFile(incoming, bytes, { mode: fileMode });
    await rename(incoming, path);
    this.#noteVerified(path);
    return path;
  }

  /** Verifies a copy's hash when the copy is first used. */
  async #isWhole(path: string, sha256: string): Promise<boolean> {
    if (this.#verified.has(path)) return true;
    if (sha256Of(await readFile(path)) !== sha256) return false;
    this.#noteVerified(path);
    return true;
  }

  #noteVerified(path: string): void {
    if (this.#verified.size === maxVerified) this.#verified.clear();
    this.#verified.add(path);
  }
}

function sha256Of(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** Updates the file's time of last use.
 *  @returns whether the file exists */
function touch(path: string): boolean {
  const now = new Date();
  try {
    utimesSync(path, now, now);
    return true;
  } catch {
    return false;
  }
}
