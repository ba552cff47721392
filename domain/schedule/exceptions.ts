/** Skips due times that an exception calendar excludes. */
import { periodAt, periodEnd, type CalendarPeriod } from '#domain/calendar/calendar.ts';
import { dueAfter } from './due-times.ts';
import type { ScheduleDefinition } from './schedule.ts';

/** Returns the first due time at or after `due` that is outside all periods, or `undefined` if none exists.
 *  @param due a due time of the schedule */
export function firstDueOutside(
  periods: readonly CalendarPeriod[],
  definition: ScheduleDefinition,
  createdAt: Date,
  due: Date | undefined,
): Date | undefined {
  let next = due;
  // Each step moves past one period. A period may need two steps, because a local time can occur twice.
  for (let steps = 0; next !== undefined && steps <= 2 * periods.length; steps += 1) {
    const period = periodAt(periods, definition.timezone, next);
    if (period === undefined) return next;
    const endMs = periodEnd(period, definition.timezone).getTime() - 1;
    next = dueAfter(definition, createdAt, new Date(Math.max(endMs, next.getTime())));
  }
  return undefined;
}
