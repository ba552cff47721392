import type { Columns } from '../columns.ts';
import type { Level } from './buckets.ts';
import type { Histogram } from './histogram.ts';

/** Statistics of the runs that ended in one interval, for one group or for all groups. */
export interface RunFiguresTable {
  /** Length of the interval in seconds. */
  readonly level_seconds: Level;
  /** The group, or `everywhere` for all groups together. */
  readonly group_id: string;
  readonly begins_at: Date;
  readonly success: number;
  readonly failed: number;
  readonly stopped: number;
  /** Total CPU time of all runs. */
  readonly cpu_ms: number;
  /** The largest memory use of a single run. */
  readonly max_memory_bytes: number;
  /** Durations of the runs that started, in milliseconds. */
  readonly durations: Histogram;
  /** Queue waits of the runs that started, in milliseconds. */
  readonly waits: Histogram;
}

/** Stands for all groups together. */
export const everywhere = '00000000-0000-0000-0000-000000000000';

export const runFigureColumns: Columns<RunFiguresTable> = {
  level_seconds: 'integer',
  group_id: 'uuid',
  begins_at: 'timestamptz',
  success: 'bigint',
  failed: 'bigint',
  stopped: 'bigint',
  cpu_ms: 'bigint',
  max_memory_bytes: 'bigint',
  durations: 'jsonb',
  waits: 'jsonb',
};

/** The data of an unfinished run that is needed for statistics. */
export interface FigureRunsTable {
  readonly run_id: string;
  readonly group_id: string;
  readonly queued_at: Date;
  readonly started_at: Date | null;
}

export const figureRunColumns: Columns<FigureRunsTable> = {
  run_id: 'uuid',
  group_id: 'uuid',
  queued_at: 'timestamptz',
  started_at: 'timestamptz',
};

/** The position of the last counted event. The table has only one row. */
export interface FigurePlaceTable {
  readonly singleton: true;
  readonly transaction_id: string;
  readonly global_position: number;
}
