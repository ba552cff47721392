/** Validates the times of events. The parser accepts impossible dates and treats times in unknown time zones as
 *  local. */
import { instantsOf, zoneOf, type Zone } from '#domain/schedule/zone.ts';
import ICAL from 'ical.js';
import { CalendarError } from './calendar-error.ts';

const timeProperties = ['dtstart', 'dtend', 'recurrence-id', 'exdate', 'rdate'];
const time = /^(\d{4}-\d\d-\d\d)(?:T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\dZ?)?$/;

/** Registers the IANA time zones that the event uses, so that calendars need not define them.
 *  @throws CalendarError with a sentence for the user */
export function requireValidTimes(event: ICAL.Component): void {
  const [start, second] = event.getAllProperties('dtstart');
  if (start === undefined || second !== undefined) {
    throw new CalendarError('Each event in the calendar must have exactly one start (DTSTART).');
  }
  for (const property of timeProperties.flatMap((name) => event.getAllProperties(name))) {
    requireZone(property);
    requireDates(property);
  }
  requireOrder(event);
}

/** An event's end may equal its start, because some programs write events without a duration. */
function requireOrder(event: ICAL.Component): void {
  const [start, end, duration] = ['dtstart', 'dtend', 'duration'].map((name) =>
    event.getFirstPropertyValue(name),
  );
  if (start instanceof ICAL.Time && end instanceof ICAL.Time && end.compare(start) < 0) {
    throw new CalendarError(
      `The event ${nameOf(event)} of the calendar ends (DTEND ${String(end)}) before it starts (DTSTART ${String(start)}).`,
    );
  }
  if (duration instanceof ICAL.Duration && duration.toSeconds() < 0) {
    throw new CalendarError(
      `The event ${nameOf(event)} of the calendar has the negative duration ${String(duration)}.`,
    );
  }
}

/** Returns the event's summary or UID in quotation marks. */
function nameOf(event: ICAL.Component): string {
  const names = ['summary', 'uid'].map((name) => String(event.getFirstPropertyValue(name) ?? ''));
  return `"${quotable(names.find((name) => name.trim() !== '') ?? '', 64)}"`;
}

function quotable(text: string, maxLength: number): string {
  return text.slice(0, maxLength).toWellFormed().replaceAll('\0', '');
}

function requireZone(property: ICAL.Property): void {
  const id: string | readonly string[] | undefined = property.getParameter('tzid');
  if (id === undefined) return;
  if (typeof id !== 'string') {
    throw new CalendarError(
      'The calendar has an event with more than one time zone (TZID) for the same date.',
    );
  }
  if (property.parent?.getTimeZoneByID(id)) return;
  const zone = zoneOf(id);
  if (zone === undefined) {
    throw new CalendarError(
      `The calendar refers to the unknown time zone "${quotable(id, 64)}". Use an IANA name or define it (VTIMEZONE).`,
    );
  }
  if (!ICAL.TimezoneService.has(id)) {
    ICAL.TimezoneService.register(new IanaZone(id, zone), id);
  }
}

/** The parser normalizes dates (February 31 becomes March 3), so the original text is checked. */
function requireDates(property: ICAL.Property): void {
  const [, , , ...values] = property.jCal as unknown as unknown[];
  for (const text of values.flat().map(String)) {
    // The end of a period (`RDATE;VALUE=PERIOD`) may be given as a duration.
    if (property.type === 'period' && /^[+-]?P/.test(text)) continue;
    const day = time.exec(text)?.[1];
    if (day === undefined || !isDay(day)) {
      throw new CalendarError(
        `The calendar has an event with the invalid date "${quotable(text, 32)}".`,
      );
    }
  }
}

function isDay(day: string): boolean {
  const at = new Date(`${day}T00:00:00Z`);
  return !Number.isNaN(at.getTime()) && at.toISOString().slice(0, 10) === day;
}

/** A time zone from the IANA database. */
class IanaZone extends ICAL.Timezone {
  readonly #zone: Zone;

  constructor(tzid: string, zone: Zone) {
    super({ tzid });
    this.#zone = zone;
  }

  /** The UTC offset in seconds. */
  override utcOffset({ year, month, day, hour, minute, second }: ICAL.Time): number {
    const localMs = Date.UTC(year, month - 1, day, hour, minute, second);
    const [instant = localMs] = instantsOf(this.#zone, localMs).instants;
    return (localMs - instant) / 1000;
  }
}
