import { expect, test } from 'vitest';
import { figureChart } from './metric-charts.ts';

const at = '2026-11-21T02:00:00.000Z';
const series = (names: Record<string, number | null>) => ({
  bucket_seconds: 3600,
  series: Object.entries(names).map(([name, value]) => ({
    name,
    points: [[at, value]] as [string, number | null][],
  })),
});

test('stacks counts as bars, with a total', () => {
  const chart = figureChart('runs', series({ success: 1200, failed: 3, stopped: 0 }), String);
  expect(chart.summary).toBe('1,203 total');
  expect(chart.model.kind).toBe('bars');
  expect(chart.model.series.map(({ name }) => name)).toEqual(['Success', 'Failed', 'Stopped']);
  expect(chart.model.series[1]?.points).toEqual([[Date.parse(at), 3]]);
});

test('rounds the times on the axis', () => {
  const points = Array.from({ length: 97 }, (_, index): [string, number] => [
    new Date(Date.parse(at) + index * 900_000).toISOString(),
    1,
  ]);
  const day = { bucket_seconds: 900, series: [{ name: 'failed', points }] };
  const { range, ticks = [] } = figureChart('errors', day, String).model;
  expect(range).toEqual([Date.parse(at), Date.parse(at) + 24 * 3_600_000]);
  expect(ticks.map((ms) => new Date(ms).getHours() % 4)).toEqual([0, 0, 0, 0, 0, 0]);
});

test('draws durations as lines with gaps, and reports the maximum', () => {
  const chart = figureChart('duration', series({ p50: 12, p95: 1500 }), String);
  expect([chart.model.kind, chart.summary]).toEqual(['lines', 'p95 up to 1.5 s']);
  const empty = figureChart('queue', series({ p50: null, p95: null }), String);
  expect(empty.summary).toBe('none');
  expect(empty.model.series[0]?.points).toEqual([[Date.parse(at), null]]);
});
