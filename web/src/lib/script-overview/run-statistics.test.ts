import { expect, test } from 'vitest';
import { runStatistics } from './run-statistics.ts';

test('the success rate and the percentiles ignore stopped runs', () => {
  const runs = Array.from({ length: 20 }, (_, index) => ({
    status: index < 15 ? ('success' as const) : ('failed' as const),
    duration_ms: (index + 1) * 100,
  }));
  const others = [
    { status: 'running' as const, duration_ms: null },
    { status: 'stopped' as const, duration_ms: 90_000 },
  ];
  expect(runStatistics([...runs, ...others])).toEqual({
    decided: 20,
    successRate: 0.75,
    p50Ms: 1000,
    p95Ms: 1900,
  });
  const none = { decided: 0, successRate: null, p50Ms: null, p95Ms: null };
  expect(runStatistics([])).toEqual(none);
});
