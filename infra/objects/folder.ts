/** The object store in a folder on the local disk. The processes of one machine share it. */
import { createHash } from 'node:crypto';
import { mkdir, realpath, rmdir, unlink, type FileHandle } from 'node:fs/promises';
import { contentHashOf, type ObjectKey } from '#domain/ports/object-keys.ts';
import { ObjectCorrupt, ObjectStoreUnavailable, type ObjectStore } from '#domain/ports/objects.ts';
import { errorCode, inside, openFolder } from './beneath.ts';
import * as files from './folder-files.ts';
import { infoFrom, walkObjects } from './folder-list.ts';
import { createSemaphore } from './semaphore.ts';

export interface FolderStoreOptions {
  /** The store's root, created if missing. Its path may contain links, but links inside the folder are never
   *  followed. */
  readonly folder: string;
  /** The maximum number of concurrent file operations. A higher number would use up the threads that the rest of the
   *  process needs. */
  readonly maxConcurrency?: number;
}

const PIECE_BYTES = 256 * 1024;
const LEFTOVER_AGE_MS = 24 * 60 * 60 * 1000;

/** Opens the store, and removes unfinished files left by crashed writers.
 *  @throws Error if the folder cannot be created or entered */
export async function openFolderStore(options: FolderStoreOptions): Promise<ObjectStore> {
  await mkdir(options.folder, { recursive: true, mode: 0o700 });
  const root = await realpath(options.folder);
  await files.prepareIncoming(root, Date.now() - LEFTOVER_AGE_MS);
  return new FolderStore(root, createSemaphore(options.maxConcurrency ?? 16));
}

function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

class FolderStore implements ObjectStore {
  readonly #root: string;
  readonly #semaphore: <T>(task: () => Promise<T>) => Promise<T>;

  constructor(root: string, gate: <T>(task: () => Promise<T>) => Promise<T>) {
    this.#root = root;
    this.#semaphore = gate;
  }

  /** Runs a file operation within the concurrency limit. Converts failures to errors of the object store port. */
  async #try<T>(key: ObjectKey, task: () => Promise<T>): Promise<T> {
    try {
      return await this.#semaphore(task);
    } catch (error) {
      throw files.storeError(key, error);
    }
  }

  async put(key: ObjectKey, bytes: Uint8Array): Promise<void> {
    const expected = contentHashOf(key);
    if (expected !== undefined) {
      if (sha256(bytes) !== expected) throw new ObjectCorrupt(key);
      // A damaged copy is rewritten. An intact copy only needs to be synced.
      if (await this.#holds(key, bytes)) return this.#try(key, () => files.settle(this.#root, key));
    }
    await this.#try(key, async () => {
      const incoming = await files.openIncoming(this.#root);
      try {
        await incoming.file.writeFile(bytes);
        await files.publish(this.#root, key, incoming);
      } catch (error) {
        await files.discard(incoming);
        throw error;
      }
    });
  }

  async putStream(key: ObjectKey, chunks: AsyncIterable<Uint8Array>): Promise<number> {
    const hash = createHash('sha256');
    let sizeBytes = 0;
    const incoming = await this.#try(key, () => files.openIncoming(this.#root));
    try {
      for await (const chunk of chunks) {
        hash.update(chunk);
        sizeBytes += chunk.byteLength;
        await this.#try(key, () => incoming.file.writeFile(chunk));
      }
      const expected = contentHashOf(key);
      if (expected !== undefined && hash.digest('hex') !== expected) throw new ObjectCorrupt(key);
      await this.#try(key, () => files.publish(this.#root, key, incoming));
    } catch (error) {
      await files.discard(incoming);
      throw error;
    }
    return sizeBytes;
  }

  async get(key: ObjectKey): Promise<Uint8Array | undefined> {
    const bytes = await this.#read(key);
    const expected = contentHashOf(key);
    if (bytes !== undefined && expected !== undefined && sha256(bytes) !== expected) {
      throw new ObjectCorrupt(key);
    }
    return bytes;
  }

  async #read(key: ObjectKey): Promise<Uint8Array | undefined> {
    return this.#try(key, async () => {
      const file = await files.openObject(this.#root, key);
      if (file === undefined) return undefined;
      try {
        return await file.readFile();
      } finally {
        await file.close();
      }
    });
  }

  async #holds(key: ObjectKey, bytes: Uint8Array): Promise<boolean> {
    const stored = await this.#read(key);
    return stored !== undefined && Buffer.compare(stored, bytes) === 0;
  }

  async getStream(key: ObjectKey): Promise<AsyncIterable<Uint8Array> | undefined> {
    const file = await this.#try(key, () => files.openObject(this.#root, key));
    return file && this.#pieces(key, file);
  }

  async *#pieces(key: ObjectKey, file: FileHandle): AsyncGenerator<Uint8Array> {
    const hash = createHash('sha256');
    try {
      for (;;) {
        const { bytesRead, buffer } = await this.#try(key, () =>
          file.read(new Uint8Array(PIECE_BYTES), 0, PIECE_BYTES),
        );
        if (bytesRead === 0) break;
        const piece = buffer.subarray(0, bytesRead);
        hash.update(piece);
        yield piece;
      }
    } finally {
      await file.close();
    }
    const expected = contentHashOf(key);
    if (expected !== undefined && hash.digest('hex') !== expected) throw new ObjectCorrupt(key);
  }

  async head(key: ObjectKey): ReturnType<ObjectStore['head']> {
    return this.#try(key, async () => {
      const file = await files.openObject(this.#root, key);
      if (file === undefined) return undefined;
      try {
        return infoFrom(key, await file.stat());
      } finally {
        await file.close();
      }
    });
  }

  async *list(
    prefix: string,
    options: Parameters<ObjectStore['list']>[1] = {},
  ): ReturnType<ObjectStore['list']> & AsyncGenerator {
    const start = prefix.slice(0, prefix.lastIndexOf('/') + 1);
    const parts = start.split('/').slice(0, -1);
    // Rejects segments that could refer to a folder outside the store. Valid keys contain no such segments.
    if (parts.some((part) => ['', '.', '..'].includes(part))) return;
    try {
      await files.expectStore(this.#root);
      yield* walkObjects({ root: this.#root, prefix, after: options.after ?? '' }, start);
    } catch (error) {
      throw new ObjectStoreUnavailable(`objects ${prefix}… cannot be listed`, { cause: error });
    }
  }

  async delete(key: ObjectKey): Promise<void> {
    await this.#try(key, async () => {
      const { folders, name } = files.placeOf(key);
      const removed = await this.#inFolder(folders, (folder) => unlink(inside(folder, name)));
      await (removed ? this.#prune(folders) : files.expectStore(this.#root));
    });
  }

  /** Removes empty folders, so that they do not accumulate. */
  async #prune(folders: readonly string[]): Promise<void> {
    for (let depth = folders.length; depth > 1; depth -= 1) {
      const name = folders[depth - 1] ?? '';
      const parents = folders.slice(0, depth - 1);
      const removed = await this.#inFolder(parents, (folder) => rmdir(inside(folder, name)));
      if (!removed) return;
    }
  }

  /** @returns false if the folder does not exist or is not empty */
  async #inFolder(
    folders: readonly string[],
    remove: (folder: FileHandle) => Promise<void>,
  ): Promise<boolean> {
    let folder: FileHandle | undefined;
    try {
      folder = await openFolder(this.#root, folders, false);
      await remove(folder);
      await folder.sync();
      return true;
    } catch (error) {
      const nothing = ['ENOENT', 'ENOTDIR', 'EISDIR', 'ENOTEMPTY', 'EEXIST'];
      if (!nothing.includes(errorCode(error) ?? '')) throw error;
      return false;
    } finally {
      await folder?.close();
    }
  }
}
