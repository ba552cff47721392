/** Events of a schedule, in streams `schedule-<id>`. Permanent: never rename a type or change the meaning of a
 *  field. If a due time starts a run, the run's own event settles the due time. */
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

/** The definition was replaced. Earlier definitions no longer determine due times, unless only the name has changed. */
export type ScheduleChanged = DomainEvent<'ScheduleChanged', ScheduleCreated['data']>;

export type ScheduleDeleted = DomainEvent<
  'ScheduleDeleted',
  { readonly scheduleId: ScheduleId; readonly scriptId: ScriptId }
>;

/** A due time for which no run was started. */
export interface PassedOccurrence {
  /** In RFC 3339 format, in UTC with milliseconds. */
  readonly dueAt: string;
  readonly outcome: PassedOutcome;
  /** Code for the reason why no run started. */
  readonly reason: string;
}

/** Due times passed for which no run was started, oldest first. */
export type OccurrencesPassed = DomainEvent<
  'OccurrencesPassed',
  {
    readonly scheduleId: ScheduleId;
    readonly scriptId: ScriptId;
    readonly occurrences: readonly PassedOccurrence[];
  }
>;

export type ScheduleEvent = ScheduleCreated | ScheduleChanged | ScheduleDeleted | OccurrencesPassed;
