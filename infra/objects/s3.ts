/** The object store in a bucket of an S3-compatible server. */
import { createHash } from 'node:crypto';
import type { Readable } from 'node:stream';
import {
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  PutObjectCommand,
} from '@aws-sdk/client-s3';
import { contentHashOf, type ObjectKey } from '#domain/ports/object-keys.ts';
import {
  ObjectCorrupt,
  ObjectStoreUnavailable,
  type ListOptions,
  type ObjectInfo,
  type ObjectStore,
} from '#domain/ports/objects.ts';
import {
  createS3Calls,
  DEFAULT_LIMITS,
  sendingMs,
  type CallOptions,
  type S3Calls,
  type S3Limits,
  type S3Location,
} from './s3-calls.ts';
import { despitePruning, refuseConflict } from './s3-conflicts.ts';
import { objectError, saysConflict, saysMissing } from './s3-errors.ts';
import { infoFrom, listObjects } from './s3-list.ts';
import { partsOf } from './s3-parts.ts';
import { readBody } from './s3-read.ts';
import { beginUpload, checksumOf, removeLeftovers, type Upload } from './s3-upload.ts';

const LEFTOVER_AGE_MS = 24 * 60 * 60 * 1000;

/** Returns a store for an existing bucket without connecting, so a process can start while the server is unavailable.
 *  @param limits overrides of `DEFAULT_LIMITS` */
export function openS3Store(location: S3Location, limits: Partial<S3Limits> = {}): ObjectStore {
  return new S3Store(createS3Calls(location, { ...DEFAULT_LIMITS, ...limits }));
}

class S3Store implements ObjectStore {
  readonly #calls: S3Calls;
  #leftovers: Promise<void> | undefined;

  constructor(calls: S3Calls) {
    this.#calls = calls;
  }

  #place(key: ObjectKey): { Bucket: string; Key: string } {
    const { bucket, root } = this.#calls.location;
    return { Bucket: bucket, Key: root + key };
  }

  /** Makes one call about one object. Converts failures to errors of the object store port. */
  async #try<T>(
    key: ObjectKey,
    send: (options: CallOptions) => Promise<T>,
    extraMs?: number,
  ): Promise<T> {
    try {
      return await this.#calls.call(send, extraMs);
    } catch (error) {
      throw objectError(key, error);
    }
  }

  /** Like `#try`, but returns undefined if the object does not exist. */
  async #find<T>(
    key: ObjectKey,
    send: (options: CallOptions) => Promise<T>,
  ): Promise<T | undefined> {
    const missing = (error: unknown): undefined => {
      if (!saysMissing(error)) throw error;
    };
    return this.#try(key, (options) => send(options).catch(missing));
  }

  async put(key: ObjectKey, bytes: Uint8Array): Promise<void> {
    const expected = contentHashOf(key);
    const checksum = createHash('sha256').update(bytes);
    if (expected !== undefined && checksum.copy().digest('hex') !== expected) {
      throw new ObjectCorrupt(key);
    }
    if (bytes.byteLength > this.#calls.limits.partBytes) {
      await this.putStream(key, pieceOf(bytes));
      return;
    }
    await refuseConflict(this.#calls, key);
    await this.#putWhole(key, bytes, checksum.digest('base64'));
  }

  async #putWhole(key: ObjectKey, bytes: Uint8Array, checksum: string): Promise<void> {
    const command = new PutObjectCommand({
      ...this.#place(key),
      Body: bytes,
      ContentLength: bytes.byteLength,
      ChecksumSHA256: checksum,
    });
    const send = sendingMs(bytes.byteLength);
    await despitePruning(this.#calls, key, () =>
      this.#try(key, (options) => this.#calls.client.send(command, options), send),
    );
  }

  async putStream(key: ObjectKey, chunks: AsyncIterable<Uint8Array>): Promise<number> {
    const { partBytes } = this.#calls.limits;
    const expected = contentHashOf(key);
    const hash = createHash('sha256');
    let sizeBytes = 0;
    let upload: Upload | undefined;
    await refuseConflict(this.#calls, key);
    try {
      for await (const part of partsOf(chunks, partBytes)) {
        sizeBytes += part.byteLength;
        hash.update(part);
        const isLast = part.byteLength < partBytes;
        if (isLast && expected !== undefined && hash.copy().digest('hex') !== expected) {
          throw new ObjectCorrupt(key);
        }
        if (isLast && upload === undefined) {
          await this.#putWhole(key, part, checksumOf(part));
          return sizeBytes;
        }
        upload ??= await this.#begin(key);
        await this.#continue(key, upload, part, isLast);
      }
    } catch (error) {
      await upload?.abort();
      throw error;
    }
    return sizeBytes;
  }

  async #begin(key: ObjectKey): Promise<Upload> {
    this.#leftovers ??= removeLeftovers(this.#calls, Date.now() - LEFTOVER_AGE_MS);
    await this.#leftovers;
    return beginUpload(this.#calls, key).catch((error: unknown) => {
      throw objectError(key, error);
    });
  }

  async #continue(
    key: ObjectKey,
    upload: Upload,
    part: Uint8Array,
    isLast: boolean,
  ): Promise<void> {
    try {
      if (part.byteLength > 0) await upload.add(part);
      if (isLast) await despitePruning(this.#calls, key, () => upload.complete());
    } catch (error) {
      throw objectError(key, error);
    }
  }

  async get(key: ObjectKey): Promise<Uint8Array | undefined> {
    for (let attempt = 1; ; attempt += 1) {
      const pieces = await this.getStream(key);
      if (pieces === undefined) return undefined;
      try {
        return Buffer.concat(await Array.fromAsync(pieces));
      } catch (error) {
        // The client retries only failures that occur before the response begins.
        const isCut = error instanceof ObjectStoreUnavailable;
        if (!isCut || attempt >= this.#calls.limits.attempts) throw error;
      }
    }
  }

  async getStream(key: ObjectKey): Promise<AsyncIterable<Uint8Array> | undefined> {
    const command = new GetObjectCommand(this.#place(key));
    const answer = await this.#find(key, (options) => this.#calls.client.send(command, options));
    if (answer === undefined) return undefined;
    const { idleTimeoutMs } = this.#calls.limits;
    // In Node.js, the body is always a Node stream. The type also permits browser streams.
    return readBody(answer.Body as Readable, {
      key,
      sizeBytes: answer.ContentLength,
      idleTimeoutMs,
    });
  }

  async head(key: ObjectKey): Promise<ObjectInfo | undefined> {
    const command = new HeadObjectCommand(this.#place(key));
    const answer = await this.#find(key, (options) => this.#calls.client.send(command, options));
    if (answer === undefined) return undefined;
    const { ContentLength: sizeBytes, LastModified, ETag } = answer;
    return infoFrom(key, { sizeBytes, LastModified, ETag });
  }

  list(prefix: string, options: ListOptions = {}): AsyncIterable<ObjectInfo> {
    return listObjects(this.#calls, { prefix, after: options.after ?? '' });
  }

  async delete(key: ObjectKey): Promise<void> {
    const command = new DeleteObjectCommand(this.#place(key));
    // A server that stores objects as files refuses to remove a folder that is not empty.
    const nothing = (error: unknown): void => {
      if (!saysConflict(error) && !saysMissing(error)) throw error;
    };
    await this.#try(key, (options) =>
      this.#calls.client.send(command, options).then(() => undefined, nothing),
    );
  }
}

async function* pieceOf(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}
