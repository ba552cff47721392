import { expect, test } from 'vitest';
import { cronWords, intervalWords, meetingWords } from './labels.ts';

test.each([
  ['30 2 * * *', 'Every day at 02:30'],
  ['*/15 * * * *', 'Every 15 minutes'],
  ['@hourly', 'Every hour'],
  ['0 9 * * MON-FRI', 'At 09:00, Monday through Friday'],
  ['0 0 * * 5#2', 'At 00:00, on the second Friday of the month'],
  ['0 0 1 * 1', 'At 00:00, on day 1 of the month, or on Monday'],
  ['*/10 * * * * *', 'Every 10 seconds'],
])('%s is: %s', (cron, words) => {
  expect(cronWords(cron)).toBe(words);
});

test('what is no expression has no words', () => {
  expect(cronWords('every day')).toBeNull();
  expect(cronWords('')).toBeNull();
});

test.each([
  [1, 'Every second'],
  [90, 'Every 90 seconds'],
  [300, 'Every 5 minutes'],
  [86_400, 'Every day'],
])('%i seconds are: %s', (seconds, words) => {
  expect(intervalWords(seconds)).toBe(words);
});

test('what a due time meets is told', () => {
  expect(meetingWords({ overlap: null, together: [] })).toEqual([]);
  expect(meetingWords({ overlap: 'likely', together: ['one'] })).toEqual([
    'Previous run will likely still be active',
    'Coincides with another schedule of this script',
  ]);
  expect(meetingWords({ overlap: 'possible', together: ['one', 'two'] })).toEqual([
    'Previous run may still be active',
    'Coincides with 2 other schedules of this script',
  ]);
});
