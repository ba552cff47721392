import { expect, test } from 'vitest';
import type { RecentRun } from '#lib/api/types.ts';
import { medianMs, remaining } from './durations.ts';

const recent = (run_id: string, status: RecentRun['status'], duration_ms: number | null) =>
  ({ run_id, status, finished_at: null, duration_ms }) as RecentRun;

test('the median duration is based on successful runs only', () => {
  const runs = [
    recent('5', 'running', null),
    recent('4', 'success', 30),
    recent('3', 'failed', 9000),
    recent('2', 'success', 10),
    recent('1', 'success', 20),
  ];
  expect(medianMs(runs)).toBe(20);
  expect(medianMs([])).toBeUndefined();
});

test.each([
  [12_000, 'about 48.0 s left'],
  [60_000, 'almost done'],
  [90_000, 'longer than usual'],
])('after %i ms, a run that usually takes one minute is described as “%s”', (elapsed, words) => {
  expect(remaining(elapsed, { p50_ms: 60_000, p95_ms: 90_000 })).toBe(words);
});
