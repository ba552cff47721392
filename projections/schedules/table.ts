import type { OccurrenceOutcome, ScheduleDefinition } from '#domain/schedule/schedule.ts';
import type { Columns } from '../columns.ts';

/** Rows of deleted schedules remain, because their history can still be read. */
export interface SchedulesTable {
  readonly schedule_id: string;
  readonly stream_version: number;
  readonly script_id: string;
  readonly definition: ScheduleDefinition;
  readonly params_sha256: string | null;
  readonly version: number;
  readonly deleted: boolean;
  readonly counted_from: Date;
  readonly settled_until: Date | null;
  readonly next_fire_at: Date | null;
  readonly last_fire_at: Date | null;
  readonly created_at: Date;
  readonly created_by: string;
  readonly updated_at: Date;
  readonly updated_by: string;
}

export const scheduleColumns: Columns<SchedulesTable> = {
  schedule_id: 'uuid',
  stream_version: 'bigint',
  script_id: 'uuid',
  definition: 'jsonb',
  params_sha256: 'text',
  version: 'integer',
  deleted: 'boolean',
  counted_from: 'timestamptz',
  settled_until: 'timestamptz',
  next_fire_at: 'timestamptz',
  last_fire_at: 'timestamptz',
  created_at: 'timestamptz',
  created_by: 'text',
  updated_at: 'timestamptz',
  updated_by: 'text',
};

/** The outcome of a due time. */
export interface ScheduleOccurrencesTable {
  readonly schedule_id: string;
  readonly due_at: Date;
  readonly outcome: OccurrenceOutcome;
  /** Code for the reason why no run was started. Null if a run was started. */
  readonly reason: string | null;
  readonly run_id: string | null;
}

export const occurrenceColumns: Columns<ScheduleOccurrencesTable> = {
  schedule_id: 'uuid',
  due_at: 'timestamptz',
  outcome: 'text',
  reason: 'text',
  run_id: 'uuid',
};
