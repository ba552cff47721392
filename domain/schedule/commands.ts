import type { ScheduleId, ScriptId } from '#domain/kernel/ids.ts';
import type { PassedOccurrence } from './events.ts';
import type { ScheduleDefinition } from './schedule.ts';

export interface CreateSchedule {
  readonly type: 'CreateSchedule';
  readonly scheduleId: ScheduleId;
  readonly scriptId: ScriptId;
  readonly definition: ScheduleDefinition;
  /** Whether the script may be deleted. True if restoring it requires an approval that is still pending. */
  readonly mayBeDeleted?: boolean;
}

export interface ChangeSchedule {
  readonly type: 'ChangeSchedule';
  readonly scheduleId: ScheduleId;
  readonly scriptId: ScriptId;
  /** The complete new definition, which replaces the current one. */
  readonly definition: ScheduleDefinition;
  /** The version on which the client based the change. */
  readonly expectedVersion?: number;
  /** Whether the script may be deleted. True if restoring it requires an approval that is still pending. */
  readonly mayBeDeleted?: boolean;
}

export interface DeleteSchedule {
  readonly type: 'DeleteSchedule';
  readonly scheduleId: ScheduleId;
  readonly scriptId: ScriptId;
  readonly expectedVersion?: number;
}

/** Settles due times for which no run is started. Due times that are already settled are skipped. */
export interface PassOccurrences {
  readonly type: 'PassOccurrences';
  readonly scheduleId: ScheduleId;
  readonly scriptId: ScriptId;
  /** The due times, oldest first. */
  readonly occurrences: readonly PassedOccurrence[];
}

export type ScheduleCommand = CreateSchedule | ChangeSchedule | DeleteSchedule | PassOccurrences;
