import { afterEach, expect, test } from 'vitest';
import {
  byteSize,
  clockTime,
  duration,
  elapsedTime,
  inputTime,
  localInput,
  localTime,
  relativeTime,
  setTimeLook,
  zonedTime,
} from './format.ts';

const nowMs = Date.parse('2026-11-21T12:00:00.000Z');

test.each([
  ['2026-11-21T11:59:30.000Z', 'just now'],
  ['2026-11-21T11:59:00.000Z', '1 minute ago'],
  ['2026-11-21T11:58:01.000Z', '2 minutes ago'],
  ['2026-11-21T11:00:20.000Z', '1 hour ago'],
  ['2026-11-21T09:00:00.000Z', '3 hours ago'],
  ['2026-11-20T11:00:00.000Z', 'yesterday'],
  ['2026-11-21T12:00:30.000Z', 'in a moment'],
  ['2026-11-21T15:00:00.000Z', 'in 3 hours'],
  ['2026-11-22T11:40:00.000Z', 'tomorrow'],
  ['2026-11-28T11:00:00.000Z', 'in 7 days'],
  ['2026-11-27T23:00:00.000Z', 'in 6 days'],
])('the time %s is formatted as %s', (time, words) => {
  expect(relativeTime(time, nowMs)).toBe(words);
});

test.each([
  [420, '420 ms'],
  [3240, '3.2 s'],
  [59_990, '60.0 s'],
  [247_000, '4 m 07 s'],
  [7_500_000, '2 h 05 m'],
])('a duration of %i ms is formatted as %s', (ms, words) => {
  expect(duration(ms)).toBe(words);
});

test('sizes are formatted in binary units', () => {
  expect([0, 1536, 10 * 2 ** 20].map(byteSize)).toEqual(['0 B', '1.5 KiB', '10.0 MiB']);
});

test('a time in another time zone includes the weekday, and the year unless it is the current year', () => {
  const shown = (time: string) => zonedTime(time, 'Europe/Berlin', nowMs);
  expect(shown('2026-11-22T23:30:00.000Z')).toBe('Mon 23 Nov, 00:30:00');
  expect(shown('2027-06-01T00:00:00.000Z')).toBe('Tue, 1 Jun 2027, 02:00:00');
});

afterEach(() => setTimeLook({}));

test('times are formatted in the user’s time zone and format', () => {
  setTimeLook({ timeZone: 'Asia/Tokyo' });
  expect(localTime('2026-11-21T20:00:00.000Z')).toBe('22 Nov 2026, 05:00:00');
  expect(clockTime('2026-11-21T20:00:00.123Z')).toBe('05:00:00.123');
  setTimeLook({ timeZone: 'Asia/Tokyo', hour12: true });
  expect(localTime('2026-11-21T04:00:00.000Z')).toMatch(/01:00:00\spm$|1:00:00\spm$/i);
  setTimeLook({ timeZone: 'Mars/Base' });
  expect(localTime('2026-11-21T20:00:00.000Z')).toContain('2026');
});

test.each([
  ['2026-11-21T12:00:01.250Z', '+1.250 s'],
  ['2026-11-21T12:02:03.004Z', '+2:03.004'],
  ['2026-11-21T13:02:03.004Z', '+1:02:03.004'],
  ['2026-11-21T11:59:59.000Z', '+0.000 s'],
])('the time %s of a log line is shown as %s since the start of the run', (time, words) => {
  expect(elapsedTime(time, nowMs)).toBe(words);
});

test.each([
  ['Europe/Berlin', '2026-01-15T09:30', '2026-01-15T08:30:00.000Z', '2026-01-15T09:30:00'],
  ['Europe/Berlin', '2026-07-15T09:30:07', '2026-07-15T07:30:07.000Z', '2026-07-15T09:30:07'],
  // At 02:00, clocks move forward, so this time is skipped.
  ['Europe/Berlin', '2026-03-29T02:30', '2026-03-29T01:30:00.000Z', '2026-03-29T03:30:00'],
  ['America/New_York', '2026-03-08T02:30', '2026-03-08T07:30:00.000Z', '2026-03-08T03:30:00'],
  // This time occurs twice, because clocks move back.
  ['Europe/Berlin', '2026-10-25T02:30', '2026-10-25T00:30:00.000Z', '2026-10-25T02:30:00'],
  ['Asia/Kathmandu', '2026-01-15T00:00', '2026-01-14T18:15:00.000Z', '2026-01-15T00:00:00'],
])('in %s, a date field with the value %s stands for %s', (timeZone, text, time, shown) => {
  setTimeLook({ timeZone });
  expect([inputTime(text), localInput(time)]).toEqual([time, shown]);
});

test('an incomplete date field contains no time', () => {
  expect([inputTime(''), localInput(null), localInput('soon')]).toEqual([null, '', '']);
});
