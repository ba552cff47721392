/** Decides the outcome of due times (contract §3, "Schedule"). */
import { periodAt, type CalendarPeriod } from '#domain/calendar/calendar.ts';
import { dueAfter } from './due-times.ts';
import { firstDueOutside } from './exceptions.ts';
import type { FiredOutcome, ScheduleDefinition } from './schedule.ts';

/** The maximum delay at which a due time is still on time. The scheduler checks every second. */
const inTimeMs = 5_000;
/** The maximum delay at which a due time is late rather than missed. A restart takes less than this time. */
const lateMs = 60_000;

export type Verdict =
  | { readonly kind: 'fire'; readonly outcome: FiredOutcome }
  /** An event in the schedule's calendar excludes the due time. */
  | { readonly kind: 'except' }
  | { readonly kind: 'miss'; readonly reason: 'too_late' | 'not_caught_up' | 'superseded' };

export interface DueTime {
  readonly dueAt: Date;
  readonly verdict: Verdict;
}

/** Returns the due times from `first` to `now` with their outcomes, oldest first. Returns at most `most` due times.
 *  @param exceptions the periods in the schedule's calendar */
export function* dueTimesUntil(
  definition: ScheduleDefinition,
  createdAt: Date,
  first: Date,
  now: Date,
  most: number,
  exceptions: readonly CalendarPeriod[] = [],
): Generator<DueTime, void> {
  let dueAt: Date | undefined = first;
  for (let count = 0; dueAt !== undefined && dueAt <= now && count < most; count += 1) {
    const next: Date | undefined = dueAfter(definition, createdAt, dueAt);
    if (periodAt(exceptions, definition.timezone, dueAt) !== undefined) {
      yield { dueAt, verdict: { kind: 'except' } };
    } else {
      const later = firstDueOutside(exceptions, definition, createdAt, next);
      const isLast = later === undefined || later > now;
      yield { dueAt, verdict: verdictOn(definition, now.getTime() - dueAt.getTime(), isLast) };
    }
    dueAt = next;
  }
}

function verdictOn(
  { catchUp, maxLatenessSeconds }: ScheduleDefinition,
  latenessMs: number,
  isLast: boolean,
): Verdict {
  if (latenessMs <= inTimeMs) return { kind: 'fire', outcome: 'fired' };
  if (latenessMs > maxLatenessSeconds * 1000) return { kind: 'miss', reason: 'too_late' };
  if (isLast && latenessMs <= lateMs) return { kind: 'fire', outcome: 'late' };
  switch (catchUp) {
    case 'all':
      return { kind: 'fire', outcome: 'caught_up' };
    case 'last':
      return isLast
        ? { kind: 'fire', outcome: 'caught_up' }
        : { kind: 'miss', reason: 'superseded' };
    case 'none':
      return { kind: 'miss', reason: 'not_caught_up' };
  }
}
