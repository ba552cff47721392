import type { RelatedRun } from '#lib/api/types.ts';

/** A run in the timeline of related runs. Positions are fractions of the whole period. */
export interface RelatedRow {
  run: RelatedRun;
  /** The depth in the tree of runs; 0 for the first run. */
  depth: number;
  /** The time spent in the queue. */
  queue: { left: number; width: number };
  /** The time from start to end, or `null` before the run has started. */
  active: { left: number; width: number } | null;
  /** The time from the request to the end. */
  totalMs: number;
}

/** Converts runs to rows, each below the run that triggered it.
 *  @param nowMs the time at which the bars of active runs end */
export function relatedRows(runs: readonly RelatedRun[], nowMs: number): RelatedRow[] {
  const endOf = (run: RelatedRun) => (run.finished_at ? Date.parse(run.finished_at) : nowMs);
  const fromMs = Math.min(...runs.map((run) => Date.parse(run.queued_at)));
  const allMs = Math.max(1, Math.max(...runs.map(endOf)) - fromMs);
  const part = (startMs: number, endMs: number) => ({
    left: (startMs - fromMs) / allMs,
    width: Math.max(0, endMs - startMs) / allMs,
  });
  const ids = new Set(runs.map((run) => run.run_id));
  const rows: RelatedRow[] = [];
  const add = (cause: string | null, depth: number): void => {
    const isNext = (run: RelatedRun) =>
      cause === null ? !ids.has(run.cause_run_id ?? '') : run.cause_run_id === cause;
    for (const run of runs.filter(isNext)) {
      const queuedMs = Date.parse(run.queued_at);
      const startedMs = run.started_at ? Date.parse(run.started_at) : null;
      rows.push({
        run,
        depth,
        queue: part(queuedMs, startedMs ?? endOf(run)),
        active: startedMs === null ? null : part(startedMs, endOf(run)),
        totalMs: Math.max(0, endOf(run) - queuedMs),
      });
      add(run.run_id, depth + 1);
    }
  };
  add(null, 0);
  return rows;
}
