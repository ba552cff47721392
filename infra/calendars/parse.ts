/** Reads an iCalendar text (RFC 5545) and expands its events. */
import {
  maxPeriods,
  maxSummary,
  type CalendarContent,
  type CalendarPeriod,
} from '#domain/calendar/calendar.ts';
import ICAL from 'ical.js';
import { CalendarError } from './calendar-error.ts';
import { requireValidTimes } from './times.ts';

const maxEvents = 5_000;
/** The maximum number of occurrences to visit, including occurrences before the requested period. */
const maxSteps = 20_000;

/** Expands the occurrences from `from` (inclusive) to `until` (exclusive). Malicious texts can take very long.
 *  @throws CalendarError with a sentence for the user */
export function parseCalendar(text: string, from: Date, until: Date): CalendarContent {
  const calendar = rootOf(text);
  const events = calendar.getAllSubcomponents('vevent');
  if (events.length === 0) {
    throw new CalendarError('The calendar has no events. A calendar needs at least one VEVENT.');
  }
  if (events.length > maxEvents) {
    throw new CalendarError(`The calendar has more than ${maxEvents} events.`);
  }
  for (const event of events) requireValidTimes(event);
  const periods: CalendarPeriod[] = [];
  const steps = { left: maxSteps };
  for (const event of withChanges(events)) {
    for (const period of occurrences(event, until, steps)) {
      if (Date.parse(period.to) > from.getTime() - dayMs) periods.push(period);
      if (periods.length > maxPeriods) {
        throw new CalendarError(`The calendar has more than ${maxPeriods} occurrences.`);
      }
    }
  }
  periods.sort((one, other) => (one.from < other.from ? -1 : 1));
  return { periods, coveredUntil: until.toISOString() };
}

const dayMs = 86_400_000;

function rootOf(text: string): ICAL.Component {
  try {
    const root = new ICAL.Component(ICAL.parse(text.replace(/^\uFEFF/, '')) as string);
    if (root.name === 'vcalendar') return root;
  } catch {
    // The parser's message may quote any part of the text, so it is not passed on.
  }
  throw new CalendarError('The calendar is not valid iCalendar text with one VCALENDAR.');
}

/** Combines events with the changes to their occurrences (RECURRENCE-ID). A change to an unknown event counts as a
 *  separate event. */
function withChanges(events: readonly ICAL.Component[]): ICAL.Event[] {
  const changes = Map.groupBy(
    events.filter((one) => one.hasProperty('recurrence-id')),
    uidOf,
  );
  const series = events.filter((one) => !one.hasProperty('recurrence-id'));
  const uids = new Set(series.map(uidOf));
  const alone = [...changes].flatMap(([uid, changed]) => (uids.has(uid) ? [] : changed));
  return [
    ...series.map((one) => new ICAL.Event(one, { exceptions: changes.get(uidOf(one)) ?? [] })),
    ...alone.map((one) => new ICAL.Event(one)),
  ];
}

function uidOf(event: ICAL.Component): string {
  return String(event.getFirstPropertyValue('uid') ?? '');
}

function* occurrences(
  event: ICAL.Event,
  until: Date,
  steps: { left: number },
): Generator<CalendarPeriod, void> {
  const untilText = until.toISOString();
  if (isCancelled(event)) return;
  if (!event.isRecurring()) {
    if (event.startDate.toString() <= untilText) {
      yield periodOf(summaryOf(event), event.startDate, event.endDate);
    }
    return;
  }
  const iterator = event.iterator();
  for (let next = iterator.next(); next; next = iterator.next()) {
    steps.left -= 1;
    if (steps.left < 0) {
      throw new CalendarError('The recurring events of the calendar have too many occurrences.');
    }
    if (next.toString() > untilText) return;
    if (isShifted(event, next)) continue;
    const { item, startDate, endDate } = event.getOccurrenceDetails(next);
    if (!isCancelled(item)) yield periodOf(summaryOf(item), startDate, endDate);
  }
}

/** Whether the library shifted a nonexistent date, such as February 30, into the next month. RFC 5545 omits such
 *  dates. */
function isShifted({ component, startDate }: ICAL.Event, { day }: ICAL.Time): boolean {
  const [rule, ...others] = component.getAllProperties('rrule').map((one) => one.getFirstValue());
  if (!(rule instanceof ICAL.Recur) || others.length > 0 || component.hasProperty('rdate')) {
    return false;
  }
  const { freq, parts } = rule;
  const days = parts.BYMONTHDAY as readonly number[] | undefined;
  if (days !== undefined) return days.every((one) => one > 0) && !days.includes(day);
  const isByDate = freq === 'MONTHLY' || freq === 'YEARLY';
  const isPlain = Object.keys(parts).every((name) =>
    ['BYMONTH', 'BYHOUR', 'BYMINUTE'].includes(name),
  );
  return isByDate && isPlain && day !== startDate.day;
}

/** Transparent events are included, because published holiday calendars mark holidays as transparent. */
function isCancelled({ component }: ICAL.Event): boolean {
  return String(component.getFirstPropertyValue('status') ?? '').toUpperCase() === 'CANCELLED';
}

function summaryOf(event: ICAL.Event): string {
  const summary = String(event.summary ?? '')
    .slice(0, maxSummary)
    .toWellFormed()
    .replaceAll('\0', '')
    .trim();
  return summary === '' ? 'Untitled event' : summary;
}

function periodOf(summary: string, start: ICAL.Time, end: ICAL.Time): CalendarPeriod {
  const [from, to] = [pointOf(start), pointOf(end)];
  // An event without a duration covers one minute, or a whole day if its start has no time.
  if (from < to) return { summary, from, to };
  const lengthMs = start.isDate ? dayMs : 60_000;
  const isUtc = from.endsWith('Z');
  const later = new Date(Date.parse(isUtc ? from : `${from}Z`) + lengthMs).toISOString();
  return { summary, from, to: isUtc ? `${later.slice(0, 19)}Z` : later.slice(0, 19) };
}

/** Dates and times without a time zone stay local. */
function pointOf(time: ICAL.Time): string {
  if (time.isDate) return `${time.toString().slice(0, 10)}T00:00:00`;
  if (time.zone === ICAL.Timezone.localTimezone) return time.toString().slice(0, 19);
  return `${new Date(time.toUnixTime() * 1000).toISOString().slice(0, 19)}Z`;
}
