import type { ScheduleId, ScriptId } from '#domain/kernel/ids.ts';
import type { PassedOccurrence } from './events.ts';
import type { ScheduleDefinition } from './schedule.ts';

export interface CreateSchedule {
  readonly type: 'CreateSchedule';
  readonly scheduleId: ScheduleId;
  readonly scriptId: ScriptId;
  readonly definition: ScheduleDefinition;
}

export interface ChangeSchedule {
  readonly type: 'ChangeSchedule';
  readonly scheduleId: ScheduleId;
  readonly scriptId: ScriptId;
  /** All of it, as it is to be. */
  readonly definition: ScheduleDefinition;
  /** The version that it is to replace. */
  readonly expectedVersion?: number;
}

export interface DeleteSchedule {
  readonly type: 'DeleteSchedule';
  readonly scheduleId: ScheduleId;
  readonly scriptId: ScriptId;
  readonly expectedVersion?: number;
}

/** Notes due times that make no run. Those that have ended otherwise meanwhile are left out. */
export interface PassOccurrences {
  readonly type: 'PassOccurrences';
  readonly scheduleId: ScheduleId;
  readonly scriptId: ScriptId;
  /** Oldest first. */
  readonly occurrences: readonly PassedOccurrence[];
}

export type ScheduleCommand = CreateSchedule | ChangeSchedule | DeleteSchedule | PassOccurrences;
