/** Splits a stream into parts of equal size for a multipart upload. */

const FIRST_BUFFER_BYTES = 64 * 1024;

/** Yields parts of exactly `partBytes`, except for the last part, which is shorter and may be empty. A part is valid
 *  until the next part is requested. */
export async function* partsOf(
  chunks: AsyncIterable<Uint8Array>,
  partBytes: number,
): AsyncGenerator<Uint8Array> {
  // Grows with the data, to save memory for small objects.
  let part: Buffer = Buffer.allocUnsafe(Math.min(FIRST_BUFFER_BYTES, partBytes));
  let used = 0;
  for await (const chunk of chunks) {
    for (let at = 0; at < chunk.byteLength;) {
      if (used === part.length) part = grown(part, Math.min(part.length * 2, partBytes));
      const taken = chunk.subarray(at, at + part.length - used);
      part.set(taken, used);
      used += taken.byteLength;
      at += taken.byteLength;
      if (used < partBytes) continue;
      yield part;
      used = 0;
    }
  }
  yield part.subarray(0, used);
}

function grown(buffer: Buffer, sizeBytes: number): Buffer {
  const larger = Buffer.allocUnsafe(sizeBytes);
  buffer.copy(larger);
  return larger;
}
