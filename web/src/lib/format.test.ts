import { expect, test } from 'vitest';
import { byteSize, duration, relativeTime, zonedTime } from './format.ts';

const nowMs = Date.parse('2026-11-21T12:00:00.000Z');

test.each([
  ['2026-11-21T11:59:30.000Z', 'just now'],
  ['2026-11-21T11:58:01.000Z', '1 minute ago'],
  ['2026-11-21T09:00:00.000Z', '3 hours ago'],
  ['2026-11-20T11:00:00.000Z', 'yesterday'],
  ['2026-11-21T12:00:30.000Z', 'in a moment'],
  ['2026-11-21T15:00:00.000Z', 'in 3 hours'],
])('%s is %s', (time, words) => {
  expect(relativeTime(time, nowMs)).toBe(words);
});

test.each([
  [420, '420 ms'],
  [3240, '3.2 s'],
  [59_990, '60.0 s'],
  [247_000, '4 m 07 s'],
  [7_500_000, '2 h 05 m'],
])('%i ms is %s', (ms, words) => {
  expect(duration(ms)).toBe(words);
});

test('sizes are in binary units', () => {
  expect([0, 1536, 10 * 2 ** 20].map(byteSize)).toEqual(['0 B', '1.5 KiB', '10.0 MiB']);
});

test('a time in another zone tells its weekday, and the year where it is another', () => {
  const shown = (time: string) => zonedTime(time, 'Europe/Berlin', nowMs);
  expect(shown('2026-11-22T23:30:00.000Z')).toBe('Mon 23 Nov, 00:30:00');
  expect(shown('2027-06-01T00:00:00.000Z')).toBe('Tue, 1 Jun 2027, 02:00:00');
});
