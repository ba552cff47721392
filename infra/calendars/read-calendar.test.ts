import { describe, expect, test } from 'vitest';
import { readCalendar } from './read-calendar.ts';

const from = new Date('2026-01-01T00:00:00Z');
const until = new Date('2028-01-01T00:00:00Z');

function read(...lines: readonly string[]) {
  const event = lines.length === 0 ? [] : ['BEGIN:VEVENT', 'UID:a', ...lines, 'END:VEVENT'];
  const text = ['BEGIN:VCALENDAR', 'VERSION:2.0', ...event, 'END:VCALENDAR'].join('\r\n');
  return readCalendar(text, from, until);
}

async function spans(...lines: readonly string[]) {
  return (await read(...lines)).periods.map((one) => `${one.from}/${one.to}`);
}

describe('an event', () => {
  test('without a time covers whole days in the schedule’s time zone', async () => {
    expect(await spans('DTSTART;VALUE=DATE:20261225', 'DTEND;VALUE=DATE:20261227')).toEqual([
      '2026-12-25T00:00:00/2026-12-27T00:00:00',
    ]);
    expect(await spans('DTSTART;VALUE=DATE:20261225')).toEqual([
      '2026-12-25T00:00:00/2026-12-26T00:00:00',
    ]);
  });

  test('with a time covers the time from its start to its end', async () => {
    expect(await spans('DTSTART:20261224T120000Z', 'DURATION:PT2H')).toEqual([
      '2026-12-24T12:00:00Z/2026-12-24T14:00:00Z',
    ]);
    const zoned = ['DTSTART;TZID=Europe/Berlin:20261224T120000', 'DURATION:PT2H'];
    expect(await spans(...zoned)).toEqual(['2026-12-24T11:00:00Z/2026-12-24T13:00:00Z']);
    expect(await spans('DTSTART:20261224T120000', 'DTEND:20261224T130000')).toEqual([
      '2026-12-24T12:00:00/2026-12-24T13:00:00',
    ]);
  });

  test('recurs until the end of the covered period, except on its excluded dates', async () => {
    const rule = ['DTSTART;VALUE=DATE:20251225', 'RRULE:FREQ=YEARLY', 'EXDATE;VALUE=DATE:20261225'];
    expect(await spans(...rule)).toEqual(['2027-12-25T00:00:00/2027-12-26T00:00:00']);
  });
});

test.each([
  ['February 30', 'DTSTART;VALUE=DATE:20260130', 'RRULE:FREQ=MONTHLY', 3],
  ['February 29', 'DTSTART;VALUE=DATE:20240229', 'RRULE:FREQ=YEARLY', 0],
])('a recurrence rule does not move %s to the next month', async (_date, start, rule, count) => {
  const starts = (await spans(start, rule)).map((one) => one.slice(5, 10));
  expect(starts.filter((one) => one.startsWith('03-0'))).toEqual([]);
  expect(starts.length).toBeGreaterThanOrEqual(count);
});

describe('an iCalendar file from a calendar app', () => {
  const wrap = (body: string, newline = '\r\n') =>
    `BEGIN:VCALENDAR\nVERSION:2.0\n${body}\nEND:VCALENDAR\n`.replaceAll('\n', newline);
  const readText = async (text: string) => (await readCalendar(text, from, until)).periods;
  const series = `BEGIN:VEVENT
UID:maintenance
DTSTART;TZID=Europe/Berlin:20260304T220000
DURATION:PT2H
RRULE:FREQ=WEEKLY;COUNT=3
EXDATE;TZID=Europe/Berlin:20260311T220000
SUMMARY:Maintenance
END:VEVENT`;

  test.each(['\n', '\r\n'])(
    'is read with the line ending %j, with or without a byte order mark',
    async (newline) => {
      const starts = (await readText(`\uFEFF${wrap(series, newline)}`)).map((one) => one.from);
      expect(starts).toEqual(['2026-03-04T21:00:00Z', '2026-03-18T21:00:00Z']);
    },
  );

  test('joins folded lines', async () => {
    const folded = series.replace('SUMMARY:Maintenance', 'SUMMARY:Maint\n enance');
    expect((await readText(wrap(folded)))[0]?.summary).toBe('Maintenance');
  });

  test('moves and cancels single occurrences', async () => {
    const changed = (id: string, ...lines: readonly string[]) =>
      [
        'BEGIN:VEVENT',
        'UID:maintenance',
        `RECURRENCE-ID;TZID=Europe/Berlin:${id}`,
        ...lines,
        'END:VEVENT',
      ].join('\n');
    const moved = changed(
      '20260304T220000',
      'DTSTART:20260305T080000Z',
      'DTEND:20260305T090000Z',
      'SUMMARY:Moved',
    );
    const cancelled = changed('20260318T220000', 'DTSTART:20260318T210000Z', 'STATUS:CANCELLED');
    expect(await readText(wrap([series, moved, cancelled].join('\n')))).toEqual([
      { summary: 'Moved', from: '2026-03-05T08:00:00Z', to: '2026-03-05T09:00:00Z' },
    ]);
  });

  test('uses its own time zone definitions', async () => {
    const zone = `BEGIN:VTIMEZONE
TZID:Company time
BEGIN:STANDARD
DTSTART:19700101T000000
TZOFFSETFROM:+0300
TZOFFSETTO:+0300
END:STANDARD
END:VTIMEZONE`;
    const event = series.replaceAll('Europe/Berlin', 'Company time');
    expect((await readText(wrap(`${zone}\n${event}`)))[0]?.from).toBe('2026-03-04T19:00:00Z');
  });

  test('applies the daylight saving time of its time zone', async () => {
    const daily = ['DTSTART;TZID=Europe/Berlin:20260328T120000', 'RRULE:FREQ=DAILY;COUNT=2'];
    expect(await spans(...daily, 'DTEND;TZID=Europe/Berlin:20260328T130000')).toEqual([
      '2026-03-28T11:00:00Z/2026-03-28T12:00:00Z',
      '2026-03-29T10:00:00Z/2026-03-29T11:00:00Z',
    ]);
  });

  test('omits canceled events, but includes transparent events', async () => {
    const day = 'DTSTART;VALUE=DATE:20261225';
    expect(await spans(day, 'STATUS:CANCELLED')).toEqual([]);
    expect(await spans(day, 'TRANSP:TRANSPARENT')).toHaveLength(1);
  });
});

test('a calendar without events is refused', async () => {
  await expect(read()).rejects.toThrow('The calendar has no events.');
});

test('an event that ends at its start covers one minute', async () => {
  expect(await spans('DTSTART:20261224T120000Z', 'DTEND:20261224T120000Z')).toEqual([
    '2026-12-24T12:00:00Z/2026-12-24T12:01:00Z',
  ]);
});

describe('an event that ends before it starts is refused with an error that names it', () => {
  test.each([
    ['with dates', 'DTSTART;VALUE=DATE:20261225', 'DTEND;VALUE=DATE:20261224'],
    ['with times', 'DTSTART:20261224T120000Z', 'DTEND:20261224T115900Z'],
    [
      'in different time zones',
      'DTSTART;TZID=Europe/London:20261224T120000',
      'DTEND;TZID=Europe/Berlin:20261224T123000',
    ],
    ['with a negative duration', 'DTSTART:20261224T120000Z', 'DURATION:-PT2H'],
  ])('%s', async (_case, start, end) => {
    await expect(read(start, end)).rejects.toThrow(/^The event "a" of the calendar /);
    await expect(read(start, end, 'SUMMARY:Party')).rejects.toThrow(/^The event "Party" of/);
  });
});

describe('a hostile calendar', () => {
  test.each([
    ['every second since 1970', ['DTSTART:19700101T000000Z', 'RRULE:FREQ=SECONDLY']],
    ['every minute', ['DTSTART:20260101T000000Z', 'RRULE:FREQ=MINUTELY']],
    ['a day that does not exist', ['DTSTART;VALUE=DATE:20260231']],
    ['no date', ['DTSTART:tomorrow']],
    ['no start', ['SUMMARY:x']],
    ['an unknown time zone', ['DTSTART;TZID=Mars/Olympus:20261224T120000']],
    ['the hour 25', ['DTSTART:20260101T250000Z']],
    ['an exception on an invalid day', ['DTSTART:20260101T000000Z', 'EXDATE:20260230T000000Z']],
    [
      'a billion occurrences',
      ['DTSTART:20260101T000000Z', 'RRULE:FREQ=DAILY;COUNT=1000000000;BYHOUR=1,2,3,4'],
    ],
    ['an invalid rule', ['DTSTART:20260101T000000Z', 'RRULE:FREQ=SOMETIMES']],
  ])('is refused: %s', async (_case, lines) => {
    await expect(read(...lines)).rejects.toThrow(/calendar/);
  });

  test('is read without delay if its rule never matches', async () => {
    const never = 'RRULE:FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30';
    await read('DTSTART:20260101T000000Z', never).catch(() => undefined);
  });

  test('is refused if it is deeply nested', async () => {
    const text = ['BEGIN:VCALENDAR', ...Array.from({ length: 20_000 }, () => 'BEGIN:VEVENT')];
    await expect(readCalendar(text.join('\n'), from, until)).rejects.toThrow(/calendar/i);
  });

  test('is refused if its size is 10 MB', async () => {
    await expect(read(`SUMMARY:${'x'.repeat(10_000_000)}`)).rejects.toThrow('exceeds 512 KiB');
  });

  test.each(['', 'x', 'BEGIN:VEVENT\r\nEND:VEVENT', 'BEGIN:VCALENDAR'])(
    'is refused if its text is "%s"',
    async (text) => {
      await expect(readCalendar(text, from, until)).rejects.toThrow(/calendar/i);
    },
  );
});
