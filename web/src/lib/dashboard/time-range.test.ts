import { expect, test } from 'vitest';
import { askedRange, drawnRange, rangeQuery, runsQuery, timesOf } from './time-range.ts';

const asked = (query: string) => askedRange(new URLSearchParams(query));
const nowMs = Date.parse('2026-11-21T12:00:00.000Z');

test.each(['', 'span=2y', 'from=2026-11-21T00:00:00Z', 'from=b&to=a'])(
  'a URL with the query "%s" selects the last 24 hours',
  (query) => {
    expect(timesOf(asked(query), nowMs)).toEqual({ from: '2026-11-20T12:00:00.000Z', bucket: 900 });
  },
);

test('a range selected by dragging is rounded to whole minutes and stored in the URL', () => {
  const drawn = drawnRange(nowMs + 61_000, nowMs + 150_500);
  const times = { from: '2026-11-21T12:01:00.000Z', to: '2026-11-21T12:03:00.000Z' };
  expect(drawn).toEqual(times);
  expect([asked(rangeQuery(drawn)), timesOf(drawn, nowMs)]).toEqual([times, times]);
  expect(drawnRange(nowMs, nowMs)).toEqual({
    from: '2026-11-21T12:00:00.000Z',
    to: '2026-11-21T12:01:00.000Z',
  });
});

test('a preset range is restored from its URL, and filters the run list', () => {
  const week = asked('span=7d');
  expect(rangeQuery(week)).toBe('?span=7d');
  expect(runsQuery(week, 'failed')).toBe('status=failed&since=7d');
  expect(runsQuery(asked('span=90d'), 'failed')).toBe('status=failed');
});
