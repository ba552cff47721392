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
  test('without a time covers its days in the time zone of the schedule', async () => {
    expect(await spans('DTSTART;VALUE=DATE:20261225', 'DTEND;VALUE=DATE:20261227')).toEqual([
      '2026-12-25T00:00:00/2026-12-27T00:00:00',
    ]);
    expect(await spans('DTSTART;VALUE=DATE:20261225')).toEqual([
      '2026-12-25T00:00:00/2026-12-26T00:00:00',
    ]);
  });

  test('with a time covers its interval', async () => {
    expect(await spans('DTSTART:20261224T120000Z', 'DURATION:PT2H')).toEqual([
      '2026-12-24T12:00:00Z/2026-12-24T14:00:00Z',
    ]);
    const zoned = ['DTSTART;TZID=Europe/Berlin:20261224T120000', 'DURATION:PT2H'];
    expect(await spans(...zoned)).toEqual(['2026-12-24T11:00:00Z/2026-12-24T13:00:00Z']);
    expect(await spans('DTSTART:20261224T120000', 'DTEND:20261224T130000')).toEqual([
      '2026-12-24T12:00:00/2026-12-24T13:00:00',
    ]);
  });

  test('recurs without its exceptions, up to the end of the covered time', async () => {
    const rule = ['DTSTART;VALUE=DATE:20251225', 'RRULE:FREQ=YEARLY', 'EXDATE;VALUE=DATE:20261225'];
    expect(await spans(...rule)).toEqual(['2027-12-25T00:00:00/2027-12-26T00:00:00']);
  });
});

test('reads an empty calendar', async () => {
  expect((await read()).periods).toEqual([]);
});

describe('a hostile calendar is refused', () => {
  test.each([
    ['every second since 1970', ['DTSTART:19700101T000000Z', 'RRULE:FREQ=SECONDLY']],
    ['every minute', ['DTSTART:20260101T000000Z', 'RRULE:FREQ=MINUTELY']],
    ['a day that does not exist', ['DTSTART;VALUE=DATE:20260231']],
    ['no date', ['DTSTART:tomorrow']],
    ['no start', ['SUMMARY:x']],
    ['an unknown time zone', ['DTSTART;TZID=Mars/Olympus:20261224T120000']],
    ['an invalid rule', ['DTSTART:20260101T000000Z', 'RRULE:FREQ=SOMETIMES']],
  ])('%s', async (_case, lines) => {
    await expect(read(...lines)).rejects.toThrow(/calendar/);
  });

  test('a rule that never matches ends', async () => {
    const never = 'RRULE:FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30';
    await read('DTSTART:20260101T000000Z', never).catch(() => undefined);
  });

  test('5 MB', async () => {
    await expect(read(`SUMMARY:${'x'.repeat(5_000_000)}`)).rejects.toThrow('exceeds 512 KiB');
  });

  test.each(['', 'x', 'BEGIN:VEVENT\r\nEND:VEVENT', 'BEGIN:VCALENDAR'])('"%s"', async (text) => {
    await expect(readCalendar(text, from, until)).rejects.toThrow(/calendar/i);
  });
});
