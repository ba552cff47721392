/** Frames of stored log chunks, created once for all subscribers of a run. */
import type { LogChunk, RunLogs } from '#domain/ports/run-logs.ts';
import { forwards } from '#infra/postgres/logs/run-log-items.ts';
import { batched } from '#projections/batched.ts';

const chunksPerPage = 4;
/** The size of the cache for subscribers that are slightly behind. */
const maxKeptBytes = 8 * 1024 * 1024;

export interface LogFrame {
  readonly firstSeq: number;
  readonly lastSeq: number;
  readonly bytes: Buffer;
}

export interface NextFrames {
  readonly frames: readonly LogFrame[];
  /** Whether further frames may follow. */
  readonly isMore: boolean;
}

export class LogFrames {
  readonly #read: (place: string) => Promise<NextFrames | undefined>;
  /** Cached frames, by first line. A stored chunk never changes. */
  readonly #kept = new Map<string, LogFrame>();
  #keptBytes = 0;

  constructor(runLogs: Pick<RunLogs, 'readChunks'>) {
    // Batches concurrent reads: all subscribers of a run request the same chunk when they are notified.
    this.#read = batched(async (places) => {
      const answers = places.map(async (place) => {
        const [runId = '', fromSeq] = place.split(' ');
        const chunks = await runLogs.readChunks(runId, Number(fromSeq), chunksPerPage);
        const frames = this.#framesOf(chunks, Number(fromSeq));
        return [place, { frames, isMore: chunks.length === chunksPerPage }] as const;
      });
      return new Map(await Promise.all(answers));
    });
  }

  /** Returns the frames from the given line onward, without gaps. If `isMore` is false, storage was read after this
   *  call started. */
  async next(runId: string, fromSeq: number): Promise<NextFrames> {
    const kept = this.#kept.get(placeOf(runId, fromSeq));
    if (kept !== undefined) return { frames: [kept], isMore: true };
    const read = await this.#read(placeOf(runId, fromSeq));
    if (read === undefined) throw new Error('request for log lines timed out');
    for (const frame of read.frames) this.#keep(runId, frame);
    return read;
  }

  #framesOf(chunks: readonly LogChunk[], fromSeq: number): readonly LogFrame[] {
    const frames: LogFrame[] = [];
    let firstSeq = fromSeq;
    for (const chunk of chunks) {
      if (chunk.lastSeq < firstSeq) continue;
      const isWhole = chunk.firstSeq === firstSeq;
      const items = isWhole ? chunk.itemsJson : JSON.stringify(forwards(chunk, firstSeq));
      frames.push({ firstSeq, lastSeq: chunk.lastSeq, bytes: logFrame(items) });
      firstSeq = chunk.lastSeq + 1;
    }
    return frames;
  }

  #keep(runId: string, frame: LogFrame): void {
    const place = placeOf(runId, frame.firstSeq);
    if (this.#kept.has(place)) return;
    this.#kept.set(place, frame);
    this.#keptBytes += frame.bytes.length;
    for (const [oldest, { bytes }] of this.#kept) {
      if (this.#keptBytes <= maxKeptBytes) return;
      this.#kept.delete(oldest);
      this.#keptBytes -= bytes.length;
    }
  }
}

/** @param items JSON array text, which is inserted unchanged */
export function logFrame(items: string): Buffer {
  return Buffer.from(`{"type":"log","items":${items}}`);
}

function placeOf(runId: string, seq: number): string {
  return `${runId} ${seq}`;
}
