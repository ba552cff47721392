/** Reads an iCalendar text (RFC 5545) and expands its events. */
import {
  maxPeriods,
  maxSummary,
  type CalendarContent,
  type CalendarPeriod,
} from '#domain/calendar/calendar.ts';
import { instantsOf, zoneOf } from '#domain/schedule/zone.ts';
import ICAL from 'ical.js';

const maxEvents = 5_000;
/** The maximum number of occurrences that are visited, including those before the covered time. */
const maxSteps = 20_000;

export class CalendarError extends Error {}

/** Expands the occurrences from `from` to before `until`. May take long for hostile texts.
 *  @throws CalendarError with a sentence for the user */
export function parseCalendar(text: string, from: Date, until: Date): CalendarContent {
  const calendar = rootOf(text);
  const events = calendar.getAllSubcomponents('vevent');
  if (events.length > maxEvents) {
    throw new CalendarError(`The calendar has more than ${maxEvents} events.`);
  }
  const periods: CalendarPeriod[] = [];
  const steps = { left: maxSteps };
  const changes = Map.groupBy(
    events.filter((one) => one.hasProperty('recurrence-id')),
    uidOf,
  );
  for (const one of events.filter((event) => !event.hasProperty('recurrence-id'))) {
    const event = new ICAL.Event(one, { exceptions: changes.get(uidOf(one)) ?? [] });
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
    const root = new ICAL.Component(ICAL.parse(text) as string);
    if (root.name === 'vcalendar') return root;
  } catch {
    // The message of the parser may quote any part of the text.
  }
  throw new CalendarError('The text is not one iCalendar object (VCALENDAR).');
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
  const summary = String(event.summary ?? '')
    .slice(0, maxSummary)
    .toWellFormed()
    .replaceAll('\0', '');
  if (event.component.getFirstPropertyValue('status') === 'CANCELLED') return;
  requireTime(event.startDate);
  if (!event.isRecurring()) {
    yield periodOf(summary, event.startDate, event.endDate);
    return;
  }
  const iterator = event.iterator();
  for (let next = iterator.next(); next; next = iterator.next()) {
    steps.left -= 1;
    if (steps.left < 0) {
      throw new CalendarError('The recurring events of the calendar have too many occurrences.');
    }
    if (next.toString() > untilText) return;
    const { startDate, endDate } = event.getOccurrenceDetails(next);
    yield periodOf(summary, startDate, endDate);
  }
}

function periodOf(summary: string, start: ICAL.Time, end: ICAL.Time): CalendarPeriod {
  requireTime(start);
  requireTime(end);
  const [from, to] = [pointOf(start), pointOf(end)];
  // An event without a duration covers its minute, and a date its whole day.
  if (from < to) return { summary, from, to };
  const lengthMs = start.isDate ? dayMs : 60_000;
  const isUtc = from.endsWith('Z');
  const later = new Date(Date.parse(isUtc ? from : `${from}Z`) + lengthMs).toISOString();
  return { summary, from, to: isUtc ? `${later.slice(0, 19)}Z` : later.slice(0, 19) };
}

/** A date and a time without a zone stay local. */
function pointOf(time: ICAL.Time): string {
  const local = `${time.toString().slice(0, 10)}T${time.isDate ? '00:00:00' : time.toString().slice(11, 19)}`;
  const id = time.zone?.tzid ?? 'floating';
  if (time.isDate || id === 'floating') return local;
  if (id === 'UTC') return `${local}Z`;
  const zone = zoneOf(id);
  const localMs = Date.parse(`${local}Z`);
  const instantMs =
    zone === undefined
      ? time.toUnixTime() * 1000
      : (instantsOf(zone, localMs).instants[0] ?? localMs);
  return `${new Date(instantMs).toISOString().slice(0, 19)}Z`;
}

/** Rejects invalid dates and unknown time zones. */
function requireTime(time: ICAL.Time | null): asserts time is ICAL.Time {
  const text = time?.toString() ?? '';
  const day = text.slice(0, 10);
  const isDay = /^\d{4}-\d\d-\d\d$/.test(day) && !Number.isNaN(Date.parse(text));
  if (!isDay || new Date(`${day}T00:00:00Z`).toISOString().slice(0, 10) !== day) {
    throw new CalendarError('An event of the calendar has no valid date.');
  }
}
