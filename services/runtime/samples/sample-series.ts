/** The points of one run in chunks, some of which are unsaved. Pure. Initially, a point represents one sample. When
 *  the maximum number of points is reached, neighboring points are merged, and each point then represents twice as
 *  many samples. At least half the maximum number of points remains, and peaks are kept. */
import type { SampleChunk, SamplePoint } from '#domain/ports/run-samples.ts';

export const MAX_POINTS = 2048;
/** The number of points in a chunk. Small, because each new sample causes the last chunk to be stored again. */
export const CHUNK_POINTS = 32;

export class SampleSeries {
  readonly #runId: string;
  #points: SamplePoint[] = [];
  /** The number of samples per point. */
  #perPoint = 1;
  /** The number of samples in the last point. */
  #inLast = 0;
  /** The first unsaved chunk, or undefined if all chunks are saved. */
  #unsavedFrom: number | undefined;

  constructor(runId: string) {
    this.#runId = runId;
  }

  add(sample: SamplePoint): void {
    const last = this.#points.at(-1);
    if (last === undefined || this.#inLast === this.#perPoint) {
      this.#append(sample);
    } else {
      this.#points[this.#points.length - 1] = joined(last, sample);
      this.#inLast += 1;
    }
    const changed = Math.floor((this.#points.length - 1) / CHUNK_POINTS);
    this.#unsavedFrom = Math.min(this.#unsavedFrom ?? changed, changed);
  }

  #append(sample: SamplePoint): void {
    if (this.#points.length === MAX_POINTS) {
      this.#points = halved(this.#points);
      this.#perPoint *= 2;
      this.#unsavedFrom = 0;
    }
    this.#points.push(sample);
    this.#inLast = 1;
  }

  /** Returns the unsaved chunks in order, and marks them as stored. */
  takeUnsaved(): SampleChunk[] {
    const from = this.#unsavedFrom;
    if (from === undefined) return [];
    this.#unsavedFrom = undefined;
    const chunks: SampleChunk[] = [];
    for (let place = from; place * CHUNK_POINTS < this.#points.length; place += 1) {
      const first = place * CHUNK_POINTS;
      const points = this.#points.slice(first, first + CHUNK_POINTS);
      chunks.push({ runId: this.#runId, place, points });
    }
    return chunks;
  }

  /** Marks the chunks at and after `place` as unsaved. */
  markUnsaved(place: number): void {
    this.#unsavedFrom = Math.min(this.#unsavedFrom ?? place, place);
  }
}

function halved(points: readonly SamplePoint[]): SamplePoint[] {
  const pairs: SamplePoint[] = [];
  for (let index = 0; index < points.length; index += 2) {
    const [one, other] = points.slice(index, index + 2);
    if (one !== undefined) pairs.push(other === undefined ? one : joined(one, other));
  }
  return pairs;
}

function joined(earlier: SamplePoint, later: SamplePoint): SamplePoint {
  return {
    timeMs: later.timeMs,
    cpuSeconds: later.cpuSeconds,
    memoryBytes: Math.max(earlier.memoryBytes, later.memoryBytes),
    threads: Math.max(earlier.threads, later.threads),
    processes: Math.max(earlier.processes, later.processes),
  };
}
