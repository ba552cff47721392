import type { CalendarPeriod } from './api.ts';

const dayMs = 86_400_000;

/** Formats the dates of an event, such as `2026-12-25`, `2026-12-25 to 2026-12-26` or `2026-12-24 12:00 to 14:00
 *  UTC`. */
export function describePeriod({ from, to }: Pick<CalendarPeriod, 'from' | 'to'>): string {
  if (from.endsWith('T00:00:00') && to.endsWith('T00:00:00')) {
    // The end date is exclusive, so the last day is one day earlier.
    const last = new Date(Date.parse(`${to}Z`) - dayMs).toISOString().slice(0, 10);
    const first = from.slice(0, 10);
    return first === last ? first : `${first} to ${last}`;
  }
  const [start, end] = [from, to].map((time) => time.slice(0, 16).replace('T', ' ')) as [
    string,
    string,
  ];
  const isSameDay = start.slice(0, 10) === end.slice(0, 10);
  return `${start} to ${isSameDay ? end.slice(11) : end}${from.endsWith('Z') ? ' UTC' : ''}`;
}

/** Returns the events that end after `now`. */
export function upcoming(periods: readonly CalendarPeriod[], now: Date): CalendarPeriod[] {
  const text = now.toISOString().slice(0, 19);
  return periods.filter(({ to }) => to.slice(0, 19) > text);
}
