/** The wire format of exception calendars. */
import { maxCalendarName } from '#domain/calendar/calendar.ts';
import { maxCalendarBytes } from '#infra/calendars/read-calendar.ts';
import Type from 'typebox';
import { Exact, examples, OneLine, Page, Time, Uuid } from '../http/schema.ts';

const name = OneLine(maxCalendarName);
const content = Type.String({
  minLength: 1,
  maxLength: maxCalendarBytes,
  description:
    'iCalendar text (RFC 5545). Recurring events are expanded from one year ago to five years ' +
    'ahead, to at most ' +
    '2000 occurrences.',
});

export const NewCalendar = Exact({ name, content }, { title: 'CalendarInput' });

export const CalendarContentInput = Exact({ content }, { title: 'CalendarContentInput' });

export const CalendarChanges = Exact(
  { name: Type.Optional(name), content: Type.Optional(content) },
  { title: 'CalendarChanges', description: 'Omitted fields stay unchanged.' },
);

export const Period = Exact(
  {
    summary: Type.String(),
    from: Type.String({
      description:
        'UTC time with `Z`; or local time without `Z`, in the time zone of each schedule.',
    }),
    to: Type.String({ description: 'Exclusive end, in the same format.' }),
  },
  { title: 'CalendarPeriod' },
);

const occurrences = {
  periods: Type.Array(Period, { description: 'The occurrences of all events, by time.' }),
  covered_until: Time(
    'Recurring events are expanded up to this time. Upload the text again before that time.',
  ),
};

export const CalendarPreview = Exact(occurrences, { title: 'CalendarPreview' });

export const Calendar = Exact(
  {
    id: Uuid(),
    name,
    ...occurrences,
    updated_at: Time(),
  },
  {
    title: 'Calendar',
    examples: [
      {
        id: examples.calendarId,
        name: 'Holidays',
        periods: [{ summary: 'Christmas', from: '2026-12-25T00:00:00', to: '2026-12-27T00:00:00' }],
        covered_until: '2031-11-21T00:00:00.000Z',
        updated_at: examples.time,
      },
    ],
  },
);

export const CalendarPage = Page('CalendarPage', Calendar);
