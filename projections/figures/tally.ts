/** Accumulates statistics by row before they are written. Pure. */
import type { Recorded } from '#domain/aggregates.ts';
import type { RunFinished } from '#domain/run/events.ts';
import { statusOf } from '#domain/run/run.ts';
import { beginOf, levels } from './buckets.ts';
import { added, withValue } from './histogram.ts';
import { everywhere, type FigureRunsTable, type RunFiguresTable } from './table.ts';

/** The statistics of one row, without the columns of its key. */
export type Figures = Omit<RunFiguresTable, 'level_seconds' | 'group_id' | 'begins_at'>;

export const noFigures: Figures = {
  success: 0,
  failed: 0,
  stopped: 0,
  cpu_ms: 0,
  max_memory_bytes: 0,
  durations: {},
  waits: {},
};

/** Returns the sum of two statistics. */
export function together(one: Figures, other: Figures): Figures {
  return {
    success: one.success + other.success,
    failed: one.failed + other.failed,
    stopped: one.stopped + other.stopped,
    cpu_ms: one.cpu_ms + other.cpu_ms,
    max_memory_bytes: Math.max(one.max_memory_bytes, other.max_memory_bytes),
    durations: added(one.durations, other.durations),
    waits: added(one.waits, other.waits),
  };
}

export class Tally {
  readonly #rows = new Map<string, RunFiguresTable>();

  /** Returns the rows sorted by key. */
  get rows(): readonly RunFiguresTable[] {
    return [...this.#rows]
      .toSorted(([one], [other]) => (one < other ? -1 : 1))
      .map(([, row]) => row);
  }

  add(row: RunFiguresTable): void {
    const key = `${row.group_id} ${row.level_seconds} ${row.begins_at.getTime()}`;
    const before = this.#rows.get(key);
    this.#rows.set(key, before === undefined ? row : { ...row, ...together(before, row) });
  }
}

/** Counts the end of a run in the statistics of its group and of all groups. */
export function addEnd(
  tally: Tally,
  run: FigureRunsTable,
  { data: { outcome, totals }, recordedAt }: Recorded<RunFinished>,
): void {
  const { group_id, queued_at: queued, started_at: started } = run;
  const status = statusOf(outcome);
  const durationMs =
    totals.durationMs ?? (started === null ? null : recordedAt.getTime() - started.getTime());
  const figures: Figures = {
    success: status === 'success' ? 1 : 0,
    failed: status === 'failed' ? 1 : 0,
    stopped: status === 'stopped' ? 1 : 0,
    cpu_ms: Math.round((totals.cpuSeconds ?? 0) * 1000),
    max_memory_bytes: totals.maxMemoryBytes ?? 0,
    durations: durationMs === null ? {} : withValue({}, durationMs),
    waits: started === null ? {} : withValue({}, started.getTime() - queued.getTime()),
  };
  for (const level_seconds of levels) {
    const begins_at = beginOf(recordedAt, level_seconds);
    tally.add({ ...figures, level_seconds, group_id, begins_at });
    tally.add({ ...figures, level_seconds, group_id: everywhere, begins_at });
  }
}
