/** Resource samples of runs (contract §3, "Run", samples). Samples are stored in chunks. Adjacent samples of a long
 *  run are merged, so a run has at most a few thousand samples. Losing samples never affects a run. */

/** Totals over all processes of a run at one time. A merged sample has the time and the CPU time of its last sample.
 *  All other values are maximums. */
export interface SamplePoint {
  /** Milliseconds since 1 January 1970, UTC. */
  readonly timeMs: number;
  /** CPU time since the run started. */
  readonly cpuSeconds: number;
  readonly memoryBytes: number;
  readonly threads: number;
  readonly processes: number;
}

/** Adjacent samples of one run, which are stored together. */
export interface SampleChunk {
  readonly runId: string;
  /** Index of the chunk within the run, starting at 0. */
  readonly place: number;
  readonly points: readonly SamplePoint[];
}

export interface RunSamples {
  /** Stores chunks of any number of runs atomically, and replaces existing chunks. Deletes the chunks of each run
   *  after the last chunk that is given.
   *  @throws if the store is unavailable */
  save(chunks: readonly SampleChunk[]): Promise<void>;

  /** Returns all stored samples of a run, oldest first. */
  read(runId: string): Promise<readonly SamplePoint[]>;
}
