/** Numbers a run's log lines and groups them into chunks. Each chunk is encoded once. Pure. The first chunks, up to
 *  half of the stored log's limit, are the head, which is kept. All later chunks are the tail, of which only the end
 *  is kept. */
import type { LogChunk } from '#domain/ports/run-logs.ts';
import type { LogLine } from '#services/shared/line-splitter.ts';
import { LogLevels } from '#domain/run/log-level.ts';

/** A chunk is sealed when its JSON text reaches this size. */
export const CHUNK_BYTES = 64 * 1024;
// Small chunks relative to the limit make truncation fine-grained.
const CHUNKS_PER_LIMIT = 16;

export interface SealedChunk {
  readonly chunk: LogChunk;
  readonly part: 'head' | 'tail';
  /** The length of the JSON text in UTF-16 code units, which determines its memory use. */
  readonly heldSize: number;
}

export class ChunkBuilder {
  readonly #runId: string;
  readonly #headBytes: number;
  readonly #chunkBytes: number;
  readonly #levels = new LogLevels();
  #part: 'head' | 'tail' = 'head';
  #items: string[] = [];
  #openBytes = 0;
  #openSize = 0;
  #seq = 0;
  #bytes = 0;

  /** @param limitBytes the limit for the stored text, or Infinity for no limit */
  constructor(runId: string, limitBytes: number) {
    this.#runId = runId;
    this.#headBytes = limitBytes / 2;
    this.#chunkBytes = limitBytes / CHUNKS_PER_LIMIT;
  }

  /** The number of lines so far, and their size as UTF-8 text with line endings. */
  get totals(): { readonly lines: number; readonly bytes: number } {
    return { lines: this.#seq, bytes: this.#bytes };
  }

  /** The size of the open chunk, or 0 if the chunk has no lines. */
  get openSize(): number {
    return this.#openSize;
  }

  /** Adds lines.
   *  @returns the completed chunks, in order */
  add(lines: readonly LogLine[], time: string): SealedChunk[] {
    const sealed: SealedChunk[] = [];
    for (const line of lines) {
      const bytes = Buffer.byteLength(line.text) + 1;
      const endsHead = this.#part === 'head' && this.#bytes + bytes > this.#headBytes;
      if (endsHead || this.#openBytes + bytes > this.#chunkBytes) this.#sealInto(sealed);
      if (endsHead) this.#part = 'tail';
      this.#append(line, time, bytes);
      if (this.#openSize >= CHUNK_BYTES) this.#sealInto(sealed);
    }
    return sealed;
  }

  #append({ stream, text }: LogLine, time: string, bytes: number): void {
    this.#seq += 1;
    this.#bytes += bytes;
    this.#openBytes += bytes;
    const level = this.#levels.next(stream, text);
    const item = JSON.stringify({ seq: this.#seq, time, stream, level, text });
    this.#items.push(item);
    this.#openSize += item.length + 1;
  }

  #sealInto(sealed: SealedChunk[]): void {
    const chunk = this.seal();
    if (chunk !== undefined) sealed.push(chunk);
  }

  /** Ends the open chunk.
   *  @returns the chunk, or `undefined` if it has no lines */
  seal(): SealedChunk | undefined {
    if (this.#items.length === 0) return undefined;
    const itemsJson = `[${this.#items.join(',')}]`;
    const chunk = {
      runId: this.#runId,
      firstSeq: this.#seq - this.#items.length + 1,
      lastSeq: this.#seq,
      bytes: this.#openBytes,
      itemsJson,
    };
    this.#items = [];
    this.#openBytes = 0;
    this.#openSize = 0;
    return { chunk, part: this.#part, heldSize: itemsJson.length };
  }
}
