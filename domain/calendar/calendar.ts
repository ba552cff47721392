/** Exception calendars: periods in which schedules start no runs (docs/schedules.md). */
import { instantsOf, zoneOf } from '#domain/schedule/zone.ts';

export const maxCalendarName = 100;
export const maxPeriods = 2_000;
export const maxSummary = 200;

/** One occurrence of a calendar event. The end is exclusive. */
export interface CalendarPeriod {
  readonly summary: string;
  /** RFC 3339 in UTC, such as `2026-12-24T11:00:00Z`. Without `Z`, the time is in the time zone of the schedule that
   *  uses the calendar. */
  readonly from: string;
  readonly to: string;
}

/** The occurrences of a calendar's events. Recurring events are expanded up to `coveredUntil`. */
export interface CalendarContent {
  readonly periods: readonly CalendarPeriod[];
  /** RFC 3339. */
  readonly coveredUntil: string;
}

const time = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ?$/;

/** Describes the problem with a calendar's name or content. Returns `undefined` if both are valid. */
export function calendarProblem(name: string, { periods }: CalendarContent): string | undefined {
  if (name.trim() === '' || name.length > maxCalendarName) {
    return `The name must have 1 to ${maxCalendarName} characters.`;
  }
  if (periods.length > maxPeriods) return `A calendar may have at most ${maxPeriods} occurrences.`;
  return periods.every(isPeriod) ? undefined : 'The calendar has an event without a valid time.';
}

function isPeriod({ summary, from, to }: CalendarPeriod): boolean {
  const isOfOneForm = from.endsWith('Z') === to.endsWith('Z');
  return (
    time.test(from) && time.test(to) && isOfOneForm && from < to && summary.length <= maxSummary
  );
}

/** Returns the first period that contains a point in time. */
export function periodAt(
  periods: readonly CalendarPeriod[],
  timezone: string,
  at: Date,
): CalendarPeriod | undefined {
  const utc = at.toISOString().slice(0, 19);
  const offsetMs = zoneOf(timezone)?.offsetMs(at.getTime()) ?? 0;
  const local = new Date(at.getTime() + offsetMs).toISOString().slice(0, 19);
  return periods.find(({ from, to }) => {
    const now = from.endsWith('Z') ? `${utc}Z` : local;
    return from <= now && now < to;
  });
}

/** Returns the end of a period as an instant. `timezone` is the time zone of the schedule. */
export function periodEnd({ to }: CalendarPeriod, timezone: string): Date {
  const zone = to.endsWith('Z') ? undefined : zoneOf(timezone);
  if (zone === undefined) return new Date(to);
  const localMs = Date.parse(`${to}Z`);
  return new Date(instantsOf(zone, localMs).instants[0] ?? localMs);
}
