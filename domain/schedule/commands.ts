import type { ScheduleId, ScriptId } from '#domain/kernel/ids.ts';
import type { PassedOccurrence } from './events.ts';
import type { ScheduleDefinition } from './schedule.ts';

export interface CreateSchedule {
  readonly type: 'CreateSchedule';
  readonly scheduleId: ScheduleId;
  readonly scriptId: ScriptId;
  readonly definition: ScheduleDefinition;
  /** Accepts a script that is still deleted because its restoration waits for an approval. */
  readonly mayBeDeleted?: boolean;
}

export interface ChangeSchedule {
  readonly type: 'ChangeSchedule';
  readonly scheduleId: ScheduleId;
  readonly scriptId: ScriptId;
  /** The complete new definition. */
  readonly definition: ScheduleDefinition;
  /** The version that the caller has seen. */
  readonly expectedVersion?: number;
  /** Accepts a script that is still deleted because its restoration waits for an approval. */
  readonly mayBeDeleted?: boolean;
}

export interface DeleteSchedule {
  readonly type: 'DeleteSchedule';
  readonly scheduleId: ScheduleId;
  readonly scriptId: ScriptId;
  readonly expectedVersion?: number;
}

/** Settles due times without a run. Due times that are settled already are skipped. */
export interface PassOccurrences {
  readonly type: 'PassOccurrences';
  readonly scheduleId: ScheduleId;
  readonly scriptId: ScriptId;
  /** The due times, oldest first. */
  readonly occurrences: readonly PassedOccurrence[];
}

export type ScheduleCommand = CreateSchedule | ChangeSchedule | DeleteSchedule | PassOccurrences;
