import { given } from '#domain/testing/given.ts';
import { calendarId } from '#domain/testing/ids.ts';
import { describe, expect, test } from 'vitest';
import { periodAt, periodEnd } from './calendar.ts';
import { calendarAggregate } from './decide.ts';
import type { CalendarEvent } from './events.ts';

const id = { calendarId: calendarId() };
const newYear = { summary: 'New Year', from: '2027-01-01T00:00:00', to: '2027-01-02T00:00:00' };
const freeze = { summary: 'Freeze', from: '2027-01-04T08:00:00Z', to: '2027-01-04T09:00:00Z' };
const content = { periods: [newYear, freeze], coveredUntil: '2031-01-01T00:00:00.000Z' };
const create = { type: 'CreateCalendar', ...id, name: 'Holidays', content } as const;
const created: CalendarEvent = {
  type: 'CalendarCreated',
  data: { ...id, name: 'Holidays', content },
};
const remove = { type: 'DeleteCalendar', ...id } as const;
const deleted: CalendarEvent = { type: 'CalendarDeleted', data: id };
const free = { inUse: false };

describe('a calendar', () => {
  test('is created only once', () => {
    given(calendarAggregate).when(create, free).thenRecords(created);
    given(calendarAggregate, created).when(create, free).thenRecordsNothing();
  });

  test.each([
    ['without a name', { ...create, name: ' ' }],
    [
      'with too many occurrences',
      { ...create, content: { ...content, periods: Array.from({ length: 2_001 }, () => newYear) } },
    ],
    [
      'with an event that ends before it starts',
      { ...create, content: { ...content, periods: [{ ...newYear, to: '2026-01-01T00:00:00' }] } },
    ],
  ])('cannot be created %s', (_case, command) => {
    given(calendarAggregate).when(command, free).thenRefuses('validation_failed');
  });

  test('records only changed settings', () => {
    const change = { type: 'ChangeCalendar', ...id, name: 'Bank holidays' } as const;
    const data = { ...id, name: 'Bank holidays', content };
    given(calendarAggregate, created)
      .when(change, free)
      .thenRecords({ type: 'CalendarChanged', data });
    given(calendarAggregate, created)
      .when({ ...change, name: 'Holidays' }, free)
      .thenRecordsNothing();
    given(calendarAggregate).when(change, free).thenRefuses('not_found');
  });

  test('can be deleted unless schedules use it, and records only one deletion', () => {
    given(calendarAggregate, created).when(remove, free).thenRecords(deleted);
    given(calendarAggregate, created, deleted).when(remove, free).thenRecordsNothing();
    given(calendarAggregate, created).when(remove, { inUse: true }).thenRefuses('calendar_in_use');
  });
});

describe('calendar events', () => {
  test.each([
    ['the start of an all-day event in the time zone', '2026-12-31T23:00:00Z', 'New Year'],
    ['a time within a timed event', '2027-01-04T08:59:59Z', 'Freeze'],
  ])('are found at %s (%s): %s', (_case, at, summary) => {
    expect(periodAt(content.periods, 'Europe/Berlin', new Date(at))?.summary).toBe(summary);
  });

  test.each([
    ['a time just before an all-day event', '2026-12-31T22:59:59Z'],
    ['the end of an all-day event', '2027-01-01T23:00:00Z'],
    ['the end of a timed event', '2027-01-04T09:00:00Z'],
  ])('are not found at %s (%s)', (_case, at) => {
    expect(periodAt(content.periods, 'Europe/Berlin', new Date(at))).toBeUndefined();
  });

  test('end at the correct instant in the given time zone', () => {
    expect(periodEnd(newYear, 'Europe/Berlin')).toEqual(new Date('2027-01-01T23:00:00Z'));
    expect(periodEnd(freeze, 'Europe/Berlin')).toEqual(new Date('2027-01-04T09:00:00Z'));
  });
});
