/** Buffers data of unknown length: small data in memory, large data in a temporary file. Concurrent uploads
 *  therefore use disk space instead of memory. */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdtemp, open, rm, type FileHandle } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const inMemoryBytes = 64 * 1024;

export interface Spooled {
  readonly sizeBytes: number;
  /** SHA-256 of the bytes, in lower-case hex. */
  readonly sha256: string;
  /** Returns the buffered bytes. May be called only once. */
  chunks(): AsyncIterable<Uint8Array>;
  /** Releases the buffer. Idempotent. */
  remove(): Promise<void>;
}

/** Reads all chunks.
 *  @throws the error from `chunks`, after removing all data */
export async function spool(chunks: AsyncIterable<Uint8Array>): Promise<Spooled> {
  const hash = createHash('sha256');
  const held: Uint8Array[] = [];
  let sizeBytes = 0;
  let file: TemporaryFile | undefined;
  try {
    for await (const chunk of chunks) {
      hash.update(chunk);
      sizeBytes += chunk.length;
      held.push(chunk);
      if (sizeBytes <= inMemoryBytes) continue;
      file ??= await temporaryFile();
      await file.handle.writev(held.splice(0));
    }
    await file?.handle.close();
  } catch (error) {
    await file?.remove();
    throw error;
  }
  const path = file?.path;
  return {
    sizeBytes,
    sha256: hash.digest('hex'),
    chunks: () => (path === undefined ? inPieces(held) : createReadStream(path)),
    remove: async () => await file?.remove(),
  };
}

/** Bytes in a temporary file. */
export interface SpooledFile {
  readonly path: string;
  remove(): Promise<void>;
}

/** Reads all chunks into a file.
 *  @throws the error from `chunks`, after removing the file */
export async function spoolToFile(chunks: AsyncIterable<Uint8Array>): Promise<SpooledFile> {
  const file = await temporaryFile();
  try {
    for await (const chunk of chunks) await file.handle.write(chunk);
    await file.handle.close();
    return file;
  } catch (error) {
    await file.remove();
    throw error;
  }
}

async function* inPieces(chunks: readonly Uint8Array[]): AsyncGenerator<Uint8Array, void> {
  yield* chunks;
}

interface TemporaryFile {
  readonly path: string;
  readonly handle: FileHandle;
  remove(): Promise<void>;
}

async function temporaryFile(): Promise<TemporaryFile> {
  const folder = await mkdtemp(join(tmpdir(), 'orch-upload-'));
  const path = join(folder, 'body');
  const handle = await open(path, 'wx', 0o600);
  return {
    path,
    handle,
    remove: async () => {
      await handle.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** The bytes as one chunk. */
export async function* toAsyncIterable(bytes: Uint8Array): AsyncGenerator<Uint8Array, void> {
  yield bytes;
}
