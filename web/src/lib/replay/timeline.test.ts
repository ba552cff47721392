import { expect, test } from 'vitest';
import { barsOf, rangeOf, zoomedIn, zoomedOut } from './timeline.ts';

const density = {
  from: '2026-11-21T00:00:00.000Z',
  to: '2026-11-21T00:01:40.000Z',
  bucket_seconds: 10,
  estimated: false,
  items: [
    { time: '2026-11-21T00:00:20.000Z', entries: 1, not_accepted: 0 },
    { time: '2026-11-21T00:00:50.000Z', entries: 1000, not_accepted: 500 },
  ],
};

test('the timeline places bars by time, and keeps a single event visible next to a thousand', () => {
  const [lone, full] = barsOf(density);
  expect([lone?.x, lone?.width]).toEqual([0.2, 0.1]);
  expect(lone?.height).toBeCloseTo(0.1, 2);
  expect([full?.height, full?.notAccepted]).toEqual([1, 0.5]);
  expect(barsOf({ ...density, items: [] })).toEqual([]);
});

test('zooming keeps the selected time in view and stays within the range', () => {
  const whole = rangeOf(density);
  const { fromMs } = whole;
  const near = zoomedIn(whole, fromMs + 5000);
  expect(near).toEqual({ fromMs, toMs: fromMs + 25_000 });
  const middle = zoomedIn(whole, fromMs + 50_000);
  expect(middle).toEqual({ fromMs: fromMs + 37_500, toMs: fromMs + 62_500 });
  expect(zoomedOut(middle, whole)).toEqual(whole);
  expect(zoomedOut(near, whole).fromMs).toBe(fromMs);
});
