import { expect, test } from 'vitest';
import { addDays, addMonths, dayName, readDateTime, weeksOf } from './month.ts';

test('the weeks of a month run from Monday to Sunday', () => {
  const weeks = weeksOf('2026-11-25');
  expect(weeks.map(([monday]) => monday)).toEqual([
    '2026-10-26',
    '2026-11-02',
    '2026-11-09',
    '2026-11-16',
    '2026-11-23',
    '2026-11-30',
  ]);
  expect(weeks.at(-1)?.at(-1)).toBe('2026-12-06');
});

test('a date that is moved by months stays within shorter months', () => {
  expect(addDays('2028-02-28', 1)).toBe('2028-02-29');
  expect(addMonths('2026-03-31', -1)).toBe('2026-02-28');
  expect(addMonths('2026-12-15', 1)).toBe('2027-01-15');
  expect(dayName('2026-11-25')).toBe('Wednesday, 25 November 2026');
});

test.each([
  ['2026-11-25 14:30', '2026-11-25T14:30'],
  ['2026-11-25T14:30:05', '2026-11-25T14:30:05'],
  [' 2026-11-25 ', '2026-11-25T00:00'],
  ['2026-02-30', null],
  ['2026-11-25 25:00', null],
  ['25.11.2026', null],
  ['', null],
])('the text "%s" is parsed as %s', (text, value) => {
  expect(readDateTime(text)).toBe(value);
});
