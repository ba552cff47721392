import fc from 'fast-check';
import { expect, test } from 'vitest';
import { beginOf, bucketLengths, levelFor, levels, spansSince } from './buckets.ts';

test('buckets start at multiples of their length', () => {
  const time = new Date('2026-11-21T02:31:07.123Z');
  expect(levels.map((level) => beginOf(time, level).toISOString())).toEqual([
    '2026-11-21T02:31:00.000Z',
    '2026-11-21T02:30:00.000Z',
    '2026-11-21T02:00:00.000Z',
    '2026-11-21T00:00:00.000Z',
  ]);
});

test('the length of every bucket is a multiple of the length of its level', () => {
  expect(bucketLengths.map((length) => [length, levelFor(length)])).toEqual([
    [60, 60],
    [300, 60],
    [900, 900],
    [3600, 3600],
    [21_600, 3600],
    [86_400, 86_400],
  ]);
});

test('a time range is split into a few consecutive intervals without gaps', () => {
  const ms = fc.integer({ min: 1_795_000_000_000, max: 1_799_000_000_000 });
  fc.assert(
    fc.property(ms, fc.nat(40 * 86_400_000), (nowMs, lengthMs) => {
      const from = new Date(nowMs - lengthMs);
      const spans = spansSince(from, new Date(nowMs));
      expect(spans[0]?.from).toEqual(beginOf(from, 60));
      expect(spans.at(-1)?.to).toEqual(new Date(nowMs + 1));
      for (const [index, { level, from: begin, to }] of spans.entries()) {
        expect(begin).toEqual(beginOf(begin, level));
        expect(spans[index + 1]?.from ?? to).toEqual(to);
        if (level < 86_400)
          expect((to.getTime() - begin.getTime()) / 1000 / level).toBeLessThan(25);
      }
    }),
  );
});
