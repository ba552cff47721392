/** Facts of a schedule, in streams `schedule-<id>`. Stored for good: a type is never renamed and a field
 *  never changes its meaning. That a due time made a run is said by the run's own event. */
import type { DomainEvent } from '#domain/kernel/event.ts';
import type { ScheduleId, ScriptId } from '#domain/kernel/ids.ts';
import type { PassedOutcome, ScheduleDefinition } from './schedule.ts';

export type ScheduleCreated = DomainEvent<
  'ScheduleCreated',
  {
    readonly scheduleId: ScheduleId;
    readonly scriptId: ScriptId;
    readonly definition: ScheduleDefinition;
  }
>;

/** From here on, due times follow from this definition alone. */
export type ScheduleChanged = DomainEvent<'ScheduleChanged', ScheduleCreated['data']>;

export type ScheduleDeleted = DomainEvent<
  'ScheduleDeleted',
  { readonly scheduleId: ScheduleId; readonly scriptId: ScriptId }
>;

/** A due time that made no run. */
export interface PassedOccurrence {
  /** RFC 3339, in UTC with milliseconds. */
  readonly dueAt: string;
  readonly outcome: PassedOutcome;
  /** Why, as a code. */
  readonly reason: string;
}

/** Due times that made no run, oldest first. */
export type OccurrencesPassed = DomainEvent<
  'OccurrencesPassed',
  {
    readonly scheduleId: ScheduleId;
    readonly scriptId: ScriptId;
    readonly occurrences: readonly PassedOccurrence[];
  }
>;

export type ScheduleEvent = ScheduleCreated | ScheduleChanged | ScheduleDeleted | OccurrencesPassed;
