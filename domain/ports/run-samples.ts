/** What runs used while they ran: contract §3, "Run", samples.
 *
 *  Points are stored in chunks, not one by one, and there are at most some thousands of them for a run,
 *  however long it is: of an old run's points, neighbours have become one. Losing some never harms a
 *  run. */

/** Totals over the process tree of a run at one time. Where neighbours have become one, it has the time
 *  and the CPU time of the last of them, and of everything else the most that any of them had. */
export interface SamplePoint {
  /** Milliseconds since 1970. */
  readonly timeMs: number;
  /** CPU time since the start. */
  readonly cpuSeconds: number;
  readonly memoryBytes: number;
  readonly threads: number;
  readonly processes: number;
}

/** Neighbouring points of one run, stored as a whole. */
export interface SampleChunk {
  readonly runId: string;
  /** Its place among the chunks of the run, from 0. */
  readonly place: number;
  readonly points: readonly SamplePoint[];
}

export interface RunSamples {
  /** Stores chunks of any number of runs, all or none; one that is there already is replaced. What is
   *  given of a run ends with its last chunk: whatever was stored behind that is removed.
   *  @throws when the store is away */
  save(chunks: readonly SampleChunk[]): Promise<void>;

  /** Everything that is stored of a run, oldest first. */
  read(runId: string): Promise<readonly SamplePoint[]>;
}
