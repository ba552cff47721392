/** Finds the stored chunks that must be removed to keep a run's log within its limit. Pure. Neighboring tail chunks
 *  are counted together. Otherwise, a run that writes a few bytes at a time for days would use much memory and cause
 *  a removal for each chunk. */
import type { SealedChunk } from './chunk-builder.ts';

const SEGMENTS = 32;

interface Segment {
  readonly fromSeq: number;
  toSeq: number;
  bytes: number;
}

export interface SeqRange {
  readonly fromSeq: number;
  readonly toSeq: number;
}

export class LogWindow {
  readonly #limitBytes: number;
  readonly #segments: Segment[] = [];
  #headBytes = 0;
  #tailBytes = 0;

  /** @param limitBytes the limit for the stored text, or Infinity for no limit */
  constructor(limitBytes: number) {
    this.#limitBytes = limitBytes;
  }

  /** Returns how many of `chunks` can be stored before `take` must be called again, at least one. */
  fitting(chunks: readonly SealedChunk[]): number {
    let bytes = this.#headBytes + this.#tailBytes;
    let count = 0;
    for (const { chunk } of chunks) {
      bytes += chunk.bytes;
      if (count > 0 && bytes > this.#limitBytes) break;
      count += 1;
    }
    return count;
  }

  /** Records that a chunk was stored. */
  add({ chunk, part }: SealedChunk): void {
    if (part === 'head') {
      this.#headBytes += chunk.bytes;
      return;
    }
    this.#tailBytes += chunk.bytes;
    const last = this.#segments.at(-1);
    if (last !== undefined && last.bytes < this.#tailLimit / SEGMENTS) {
      last.toSeq = chunk.lastSeq;
      last.bytes += chunk.bytes;
    } else {
      this.#segments.push({ fromSeq: chunk.firstSeq, toSeq: chunk.lastSeq, bytes: chunk.bytes });
    }
  }

  get #tailLimit(): number {
    return this.#limitBytes - this.#headBytes;
  }

  /** Returns the lines that exceed the limit and must be removed from the store, if any. */
  take(): SeqRange | undefined {
    let range: SeqRange | undefined;
    while (this.#tailBytes > this.#tailLimit && this.#segments.length > 1) {
      const oldest = this.#segments.shift();
      if (oldest === undefined) break;
      this.#tailBytes -= oldest.bytes;
      range = { fromSeq: range?.fromSeq ?? oldest.fromSeq, toSeq: oldest.toSeq };
    }
    return range;
  }
}
