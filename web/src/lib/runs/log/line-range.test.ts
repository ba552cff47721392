import { expect, test } from 'vitest';
import { extended, rangeHash, readRange } from './line-range.ts';

test.each(['#L7', '#L120-L140'])(
  'the fragment %s is parsed to a range and formatted to the same fragment',
  (hash) => {
    const range = readRange(hash);
    expect(range && rangeHash(range)).toBe(hash);
  },
);

test('a range can start with its last line, and can omit the second letter', () => {
  expect(readRange('#L140-L120')).toEqual({ from: 120, to: 140 });
  expect(readRange('#L3-5')).toEqual({ from: 3, to: 5 });
});

test.each(['', '#', '#L', '#L0', '#Lx', '#L1-', '#top'])(
  'the fragment “%s” selects no lines',
  (hash) => expect(readRange(hash)).toBeNull(),
);

test('a selection is extended to the next selected line in both directions', () => {
  expect(extended(null, 5)).toEqual({ from: 5, to: 5 });
  expect(extended({ from: 5, to: 5 }, 9)).toEqual({ from: 5, to: 9 });
  expect(extended({ from: 5, to: 9 }, 2)).toEqual({ from: 2, to: 9 });
  expect(extended({ from: 5, to: 9 }, 7)).toEqual({ from: 5, to: 7 });
});
