import { expect, test } from 'vitest';
import { choiceOf, cronOf } from './cron-builder.ts';

test.each([
  ['*/15 * * * *', 'minutes'],
  ['5 * * * *', 'hourly'],
  ['30 2 * * *', 'daily'],
  ['0 9 * * 1,3,5', 'weekly'],
  ['0 6 1 * *', 'monthly'],
])('the expression %s is parsed as %s, and built again from the fields', (cron, frequency) => {
  const choice = choiceOf(cron);
  expect(choice?.frequency).toBe(frequency);
  expect(choice && cronOf(choice)).toBe(cron);
});

test('a range of weekdays is parsed as individual days', () => {
  expect(choiceOf('0 9 * * 1-5')?.weekdays).toEqual([1, 2, 3, 4, 5]);
});

test.each(['0 9 1 * 1', '0 0 9 * * *', '0 9 * 6 *', '0 9-17 * * *', '0 9 L * *', '@daily', ''])(
  'the form cannot represent the expression "%s"',
  (cron) => {
    expect(choiceOf(cron)).toBeNull();
  },
);
