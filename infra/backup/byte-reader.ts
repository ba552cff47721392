/** Reads byte sequences of requested sizes from chunks of any size. */
import { Damage } from './damaged.ts';

export class ByteReader {
  readonly #source: AsyncIterator<Uint8Array>;
  #held: Buffer = Buffer.alloc(0);

  constructor(chunks: AsyncIterable<Uint8Array>) {
    this.#source = chunks[Symbol.asyncIterator]();
  }

  /** Reads exactly this many bytes.
   *  @throws Damage if fewer bytes remain */
  async take(sizeBytes: number): Promise<Buffer> {
    const bytes = await this.upTo(sizeBytes);
    if (bytes.length < sizeBytes) throw cut();
    return bytes;
  }

  /** Reads up to this many bytes. */
  async upTo(sizeBytes: number): Promise<Buffer> {
    const parts = [this.#held];
    let size = this.#held.length;
    while (size < sizeBytes) {
      const { value, done } = await this.#source.next();
      if (done === true) break;
      parts.push(Buffer.from(value.buffer, value.byteOffset, value.byteLength));
      size += value.byteLength;
    }
    const all = parts.length === 1 ? this.#held : Buffer.concat(parts);
    this.#held = all.subarray(sizeBytes);
    return all.subarray(0, sizeBytes);
  }

  /** Yields this many bytes in pieces. The caller must read all of them. */
  async *stream(sizeBytes: number): AsyncGenerator<Uint8Array> {
    for (let left = sizeBytes; left > 0;) {
      const piece = await this.#some(left);
      left -= piece.length;
      yield piece;
    }
  }

  /** Closes the source. Idempotent. */
  async close(): Promise<void> {
    await this.#source.return?.();
  }

  async #some(maxBytes: number): Promise<Buffer> {
    if (this.#held.length === 0) {
      const { value, done } = await this.#source.next();
      if (done === true) throw cut();
      this.#held = Buffer.from(value.buffer, value.byteOffset, value.byteLength);
    }
    const piece = this.#held.subarray(0, maxBytes);
    this.#held = this.#held.subarray(piece.length);
    return piece;
  }
}

function cut(): Damage {
  return new Damage('it is truncated');
}
