import type { Columns } from '../columns.ts';
import type { Level } from './buckets.ts';
import type { Histogram } from './histogram.ts';

/** What ended in a stretch of time, in one group or in all. */
export interface RunFiguresTable {
  /** Its length. */
  readonly level_seconds: Level;
  /** `everywhere` for all groups together. */
  readonly group_id: string;
  readonly begins_at: Date;
  readonly success: number;
  readonly failed: number;
  readonly stopped: number;
  /** CPU time of all of them. */
  readonly cpu_ms: number;
  /** The most that one of them had. */
  readonly max_memory_bytes: number;
  /** How long they took, in milliseconds, of those that had begun. */
  readonly durations: Histogram;
  /** How long these had waited for it. */
  readonly waits: Histogram;
}

/** Stands for all groups. */
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

/** A run that has not ended, as far as the figures know. */
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

/** The last event that is counted: one row. */
export interface FigurePlaceTable {
  readonly singleton: true;
  readonly transaction_id: string;
  readonly global_position: number;
}
