import { expect, test } from 'vitest';
import type { RunSample } from '#lib/api/types.ts';
import { cpuShare, noSamples, usageCharts, usageTogether } from './usage-chart.ts';

const sample = (second: number, cpu: number, memory: number): RunSample => ({
  time: new Date(second * 1000).toISOString(),
  cpu_seconds: cpu,
  memory_bytes: memory,
  threads: second + 1,
  processes: 1,
});

test('CPU usage is computed from neighboring samples', () => {
  expect(
    cpuShare([
      [0, 0],
      [1, 0.5],
      [3, 2.5],
      [3, 2.5],
      [4, 2.4],
    ]),
  ).toEqual([
    [1, 50],
    [3, 100],
    [3, 0],
    [4, 0],
  ]);
});

test('the times in a chart are relative to the first sample', () => {
  const [cpu, memory, threads] = usageCharts([sample(7, 0, 1024), sample(9, 1, 512)]);
  expect(cpu?.summary).toBe('50%, peak 50%');
  expect(memory?.model.series[0]?.points).toEqual([
    [0, 1024],
    [2, 512],
  ]);
  expect(memory?.summary).toBe('512 B, peak 1.0 KiB');
  expect(threads?.summary).toBe('10, peak 10');
  expect(usageCharts([sample(7, 0, 1024)])[0]?.summary).toBe('no samples yet');
});

test('the charts of two runs are overlaid if both runs have enough samples', () => {
  const long = [sample(0, 0, 10), sample(9, 1, 20)];
  const short = [sample(3, 0, 30), sample(5, 1, 40)];
  const memory = usageTogether(long, short)[1];
  expect(memory?.model.series.map(({ name, points }) => [name, points.at(-1)])).toEqual([
    ['Other run', [9, 20]],
    ['This run', [2, 40]],
  ]);
  expect(memory?.model.range).toEqual([0, 9]);
  expect(usageTogether(long, [sample(3, 0, 30)])).toEqual([]);
});

test('a run without charts states the reason', () => {
  const run = {
    removed: [],
    started_at: '2026-01-01T00:00:00Z',
    finished_at: '2026-01-01T00:00:01Z',
  };
  expect(noSamples(run)).toBe('The run was too short to sample.');
  expect(noSamples({ ...run, finished_at: null })).toBe('No samples yet.');
  expect(noSamples({ ...run, started_at: null })).toBe('The run never started.');
  expect(noSamples({ ...run, removed: ['samples'] })).toBe(
    'CPU and memory usage expired (retention).',
  );
});
