import { expect, test } from 'vitest';
import { describeCron, describeInterval, describeOverlap } from './labels.ts';

test.each([
  ['30 2 * * *', 'Every day at 02:30'],
  ['*/15 * * * *', 'Every 15 minutes'],
  ['@hourly', 'Every hour'],
  ['0 9 * * MON-FRI', 'At 09:00, Monday through Friday'],
  ['0 0 * * 5#2', 'At 00:00, on the second Friday of the month'],
  ['0 0 1 * 1', 'At 00:00, on day 1 of the month, or on Monday'],
  ['*/10 * * * * *', 'Every 10 seconds'],
])('the expression %s is described as “%s”', (cron, words) => {
  expect(describeCron(cron)).toBe(words);
});

test('an invalid expression has no description', () => {
  expect(describeCron('every day')).toBeNull();
  expect(describeCron('')).toBeNull();
});

test.each([
  [1, 'Every second'],
  [90, 'Every 90 seconds'],
  [300, 'Every 5 minutes'],
  [86_400, 'Every day'],
])('an interval of %i seconds is described as “%s”', (seconds, words) => {
  expect(describeInterval(seconds)).toBe(words);
});

test('a due time names the runs and schedules that it may overlap', () => {
  expect(describeOverlap({ overlap: null, together: [] })).toEqual([]);
  expect(describeOverlap({ overlap: 'likely', together: ['one'] })).toEqual([
    'Previous run will likely still be active',
    'Coincides with another schedule of this script',
  ]);
  expect(describeOverlap({ overlap: 'possible', together: ['one', 'two'] })).toEqual([
    'Previous run may still be active',
    'Coincides with 2 other schedules of this script',
  ]);
});
