import { expect, test } from 'vitest';
import { formatRemainingTime } from './progress.ts';

const now = Date.parse('2026-11-21T02:31:00Z');

test.each([
  ['2026-11-21T02:31:12.400Z', 'about 13 s left'],
  ['2026-11-21T02:33:10Z', 'about 3 min left'],
  ['2026-11-21T04:36:00Z', 'about 2 h 05 m left'],
  ['2026-11-21T02:31:00Z', null],
])('the remaining time until %s is described as %s', (eta, expected) => {
  expect(formatRemainingTime(eta, now)).toBe(expected);
});
