import { expect, test } from 'vitest';
import { askedRange, drawnRange, lengthOf, rangeQuery, timesOf } from './time-range.ts';

const asked = (query: string) => askedRange(new URLSearchParams(query));
const nowMs = Date.parse('2026-11-21T12:00:00.000Z');

test.each(['', 'span=2y', 'from=2026-11-21T00:00:00Z', 'from=b&to=a'])(
  'an address that says "%s" means the last 24 hours',
  (query) => {
    expect(timesOf(asked(query), nowMs)).toEqual({ from: '2026-11-20T12:00:00.000Z', bucket: 900 });
  },
);

test('rounds a drawn range to whole minutes, and stores it in the URL', () => {
  const drawn = drawnRange(nowMs + 61_000, nowMs + 150_500);
  const times = { from: '2026-11-21T12:01:00.000Z', to: '2026-11-21T12:03:00.000Z' };
  expect(drawn).toEqual(times);
  expect([asked(rangeQuery(drawn)), timesOf(drawn, nowMs), lengthOf(drawn)]).toEqual([
    times,
    times,
    120,
  ]);
  expect(lengthOf(drawnRange(nowMs, nowMs))).toBe(60);
});

test('reads a preset range from the URL', () => {
  expect(rangeQuery(asked('span=7d'))).toBe('?span=7d');
  expect(lengthOf(asked('span=7d'))).toBe(604_800);
});
