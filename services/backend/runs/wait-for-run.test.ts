import { expect, test } from 'vitest';
import { waitSecondsOf } from './wait-for-run.ts';

test.each([
  ['wait=1', 1],
  ['respond-async, wait="30"', 30],
  ['wait=61', 60],
  ['wait=99999999999999999999', 60],
])('a valid wait is applied, up to 60 seconds: %s', (prefer, seconds) => {
  expect(waitSecondsOf(prefer)).toBe(seconds);
});

test.each([undefined, 'wait=0', 'wait=-1', 'wait=1.5', 'wait=soon', 'wait', 'return=minimal'])(
  'another preference is ignored: %s',
  (prefer) => {
    expect(waitSecondsOf(prefer)).toBe(0);
  },
);
