/** Reads an object's body from an S3 server and detects truncated or changed data. */
import { createHash } from 'node:crypto';
import type { Readable } from 'node:stream';
import { contentHashOf, type ObjectKey } from '#domain/ports/object-keys.ts';
import { ObjectCorrupt } from '#domain/ports/objects.ts';
import { unavailable } from './s3-errors.ts';

/** The expected size and hash of a response body. */
export interface ExpectedBody {
  readonly key: ObjectKey;
  /** The size that the response headers announced. */
  readonly sizeBytes: number | undefined;
  /** The maximum wait for the next chunk. Time spent by the consumer does not count. */
  readonly idleTimeoutMs: number;
}

/** Yields the chunks of a body. Closes the connection if the consumer stops early.
 *  @throws ObjectStoreUnavailable if the body is truncated, stalls or has an unexpected size
 *  @throws ObjectCorrupt after the last chunk of a blob whose content does not match its key */
export async function* readBody(
  body: Readable,
  expected: ExpectedBody,
): AsyncGenerator<Uint8Array> {
  const hash = createHash('sha256');
  const pieces: AsyncIterator<Uint8Array> = body[Symbol.asyncIterator]();
  let sizeBytes = 0;
  try {
    for (;;) {
      const { done, value } = await nextOf(pieces, body, expected);
      if (done === true) break;
      sizeBytes += value.byteLength;
      hash.update(value);
      yield value;
    }
  } finally {
    body.destroy();
  }
  const { key } = expected;
  if (expected.sizeBytes !== undefined && sizeBytes !== expected.sizeBytes) {
    throw unavailable(`object ${key} ended after ${sizeBytes} of ${expected.sizeBytes} bytes`);
  }
  const content = contentHashOf(key);
  if (content !== undefined && hash.digest('hex') !== content) throw new ObjectCorrupt(key);
}

async function nextOf(
  pieces: AsyncIterator<Uint8Array>,
  body: Readable,
  { key, idleTimeoutMs }: ExpectedBody,
): Promise<IteratorResult<Uint8Array>> {
  const timer = setTimeout(() => {
    body.destroy(new Error(`no data received for ${idleTimeoutMs} ms`));
  }, idleTimeoutMs);
  try {
    return await pieces.next();
  } catch (error) {
    throw unavailable(`the download of object ${key} was interrupted`, error);
  } finally {
    clearTimeout(timer);
  }
}
