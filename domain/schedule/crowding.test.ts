import { expect, test } from 'vitest';
import { overlapAt } from './crowding.ts';

const due = new Date('2026-11-21T02:10:00Z');
const minutesBefore = (minutes: number) => new Date(due.getTime() - minutes * 60_000);
const usual = { p50_ms: 5 * 60_000, p95_ms: 20 * 60_000 };

test.each([
  [1, 'likely'],
  [5, 'possible'],
  [19, 'possible'],
  [20, undefined],
  [60, undefined],
])('a run that began %i minutes before overlaps: %s', (minutes, forecast) => {
  expect(overlapAt(minutesBefore(minutes), due, usual)).toBe(forecast);
});

test('nothing is said where nothing is known', () => {
  expect(overlapAt(undefined, due, usual)).toBeUndefined();
  expect(overlapAt(minutesBefore(1), due, undefined)).toBeUndefined();
});
