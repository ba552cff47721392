/** Resource samples of runs: contract §3, "Run", samples.
 *  Samples are stored in chunks. A run has at most a few thousand samples: adjacent samples of a long run are
 *  merged. Lost samples never affect a run. */

/** Totals over the process tree of a run at one time. A merged sample has the time and the CPU time of the last
 *  sample, and the maximum of every other value. */
export interface SamplePoint {
  /** Milliseconds since 1970. */
  readonly timeMs: number;
  /** CPU time since the start. */
  readonly cpuSeconds: number;
  readonly memoryBytes: number;
  readonly threads: number;
  readonly processes: number;
}

/** Adjacent samples of one run, stored as a unit. */
export interface SampleChunk {
  readonly runId: string;
  /** Index of the chunk within the run, from 0. */
  readonly place: number;
  readonly points: readonly SamplePoint[];
}

export interface RunSamples {
  /** Stores chunks of any number of runs atomically and replaces existing chunks. For each run, chunks after the
   *  last given one are deleted.
   *  @throws if the store is unavailable */
  save(chunks: readonly SampleChunk[]): Promise<void>;

  /** All stored samples of a run, oldest first. */
  read(runId: string): Promise<readonly SamplePoint[]>;
}
