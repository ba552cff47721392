import { expect, test } from 'vitest';
import type { DashboardOverview } from '#lib/api/types.ts';
import { figureChart, runsChart } from './metric-charts.ts';

const from = '2026-11-21T02:00:00.000Z';
const to = '2026-11-21T04:10:00.000Z';
const hourMs = 3_600_000;
const starts = [0, 1, 2].map((hour) => new Date(Date.parse(from) + hour * hourMs).toISOString());
const points = (...values: (number | null)[]) =>
  values.map((value, hour): [string, number | null] => [starts[hour] ?? '', value]);
const one = (name: string, ...values: (number | null)[]) => [{ name, points: points(...values) }];
const overview: DashboardOverview = {
  from,
  to,
  bucket_seconds: 3600,
  totals: {
    success: 1200,
    failed: 3,
    stopped: 0,
    duration_p50_ms: 12,
    duration_p95_ms: 622,
    queue_p95_ms: null,
    cpu_seconds: 0,
    max_memory_bytes: null,
  },
  series: {
    runs: [...one('success', 700, 500, 0), ...one('failed', 3, 0, 0)],
    errors: one('failed', 3, 0, 0),
    duration: one('p95', 1500, null, null),
    queue: one('p95', null, null, null),
    cpu: one('cpu_seconds', 0, 0, 0),
    memory: one('max_bytes', null, null, null),
  },
  scripts_total: 1,
  scripts_enabled: 1,
  runs_queued: 0,
  runs_running: 0,
  runtimes: [],
  now: { failing_total: 0, failing: [], running: [], due: [] },
  fires: null,
  runs: [],
  health: [],
  setup: null,
};

test('counts are drawn as stacked bars in the middle of their bucket, with the total of the range', () => {
  const { model, summary } = figureChart('runs', overview);
  expect([model.kind, summary]).toEqual(['bars', '1,203 total']);
  expect(model.series.map(({ name }) => name)).toEqual(['Success', 'Failed']);
  expect(model.series[1]?.points[0]).toEqual([Date.parse(from) + hourMs / 2, 3]);
});

test('the chart of individual runs shows the total for the range, because it draws only a sample', () => {
  expect(runsChart(overview).summary).toBe('1,203 runs, 3 failed');
});

test('a percentile is computed over the whole range instead of from the highest bucket', () => {
  expect(figureChart('duration', overview).summary).toBe('p95 622 ms');
  expect(figureChart('queue', overview).summary).toBe('none');
});

test('all charts share a time axis that ends in the middle of the last bucket', () => {
  const ranges = (['runs', 'duration', 'errors'] as const).map(
    (metric) => figureChart(metric, overview).model.range,
  );
  expect(ranges).toEqual(ranges.map(() => [Date.parse(from), Date.parse(from) + 2.5 * hourMs]));
});
