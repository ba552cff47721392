import type { SampleChunk, SamplePoint } from '#domain/ports/run-samples.ts';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { CHUNK_POINTS, MAX_POINTS, SampleSeries } from './sample-series.ts';

const sample = (number: number, memoryBytes = 1): SamplePoint => ({
  timeMs: number * 1000,
  cpuSeconds: number / 2,
  memoryBytes,
  threads: 1,
  processes: 1,
});

function given(count: number, memoryBytes = (_: number) => 1) {
  const series = new SampleSeries('a');
  for (let number = 1; number <= count; number += 1) {
    series.add(sample(number, memoryBytes(number)));
  }
  return series;
}

const pointsOf = (chunks: readonly SampleChunk[]) => chunks.flatMap((chunk) => chunk.points);

describe('the samples of a run', () => {
  test('are stored individually if there are only a few', () => {
    const chunks = given(CHUNK_POINTS + 1).takeUnsaved();
    expect(chunks.map(({ runId, place, points }) => [runId, place, points.length])).toEqual([
      ['a', 0, CHUNK_POINTS],
      ['a', 1, 1],
    ]);
    expect(chunks[1]?.points).toEqual([sample(CHUNK_POINTS + 1)]);
  });

  test('cause no write if there are no new samples', () => {
    const series = given(3);
    expect(series.takeUnsaved()).toHaveLength(1);
    expect(series.takeUnsaved()).toEqual([]);
    series.markUnsaved(0);
    expect(pointsOf(series.takeUnsaved())).toEqual([1, 2, 3].map((number) => sample(number)));
  });

  test('are stored by rewriting only the last chunk for a new sample', () => {
    const series = given(CHUNK_POINTS * 2);
    series.takeUnsaved();
    series.add(sample(0));
    expect(series.takeUnsaved().map((chunk) => [chunk.place, chunk.points.length])).toEqual([
      [2, 1],
    ]);
  });

  test('are merged with their neighbors if there are too many, and keep their peaks', () => {
    const series = given(MAX_POINTS, (number) => (number === 9 ? 500 : 1));
    series.takeUnsaved();
    series.add(sample(MAX_POINTS + 1));
    const points = pointsOf(series.takeUnsaved());
    expect(points).toHaveLength(MAX_POINTS / 2 + 1);
    expect(points[0]).toEqual(sample(2));
    expect(points[4]).toEqual(sample(10, 500));
    series.add(sample(MAX_POINTS + 2, 7));
    expect(pointsOf(series.takeUnsaved()).at(-1)).toEqual(sample(MAX_POINTS + 2, 7));
  });
});

test('any sequence of samples is stored completely and correctly within a bounded size', () => {
  const steps = fc.array(fc.integer({ min: 1, max: 3000 }), { minLength: 1, maxLength: 6 });
  fc.assert(
    fc.property(steps, (lengths) => {
      const series = new SampleSeries('a');
      const stored = new Map<number, SampleChunk>();
      let count = 0;
      for (const length of lengths) {
        for (let added = 0; added < length; added += 1) {
          series.add(sample((count += 1), (count * 7919) % 1000));
        }
        const chunks = series.takeUnsaved();
        for (const chunk of chunks) stored.set(chunk.place, chunk);
        const last = chunks.at(-1)?.place ?? 0;
        for (const place of stored.keys()) if (place > last) stored.delete(place);
      }
      const all = pointsOf([...stored.values()].toSorted((a, b) => a.place - b.place));
      expect(all.length).toBeLessThanOrEqual(MAX_POINTS);
      expect(all.length).toBeGreaterThanOrEqual(Math.min(count, MAX_POINTS / 2));
      expect(all.at(-1)?.timeMs).toBe(count * 1000);
      const times = all.map((point) => point.timeMs);
      expect(times).toEqual(times.toSorted((a, b) => a - b));
      const peak = Math.max(...Array.from({ length: count }, (_, at) => ((at + 1) * 7919) % 1000));
      expect(Math.max(...all.map((point) => point.memoryBytes))).toBe(peak);
    }),
    { numRuns: 20 },
  );
});
