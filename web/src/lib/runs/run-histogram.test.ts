import { expect, test } from 'vitest';
import { runHistogram } from './run-histogram.ts';

test('the histogram counts runs by status, with points in the middle of their buckets', () => {
  const time = '2026-11-21T02:00:00.000Z';
  const { summary, model } = runHistogram({
    bucket_seconds: 3600,
    series: [
      { name: 'success', points: [[time, 3]] },
      { name: 'failed', points: [[time, null]] },
    ] as never,
  });
  expect(summary).toBe('3 runs');
  expect(model.series.map(({ name, points }) => [name, points])).toEqual([
    ['Success', [[Date.parse(time) + 1_800_000, 3]]],
    ['Failed', [[Date.parse(time) + 1_800_000, 0]]],
  ]);
});
