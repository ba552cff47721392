/** Converts a run's resource samples to charts. Times are in seconds since the first sample. */
import type { Run, RunSample } from '#lib/api/types.ts';
import type { ChartModel } from '#lib/ui/charts/model.ts';
import { byteSize, duration } from '#lib/ui/format.ts';

export interface UsageChart {
  title: string;
  summary: string;
  model: ChartModel;
}

type Point = [number, number];

/** Explains why a run has no charts. */
export function noSamples(run: Pick<Run, 'removed' | 'started_at' | 'finished_at'>): string {
  if (run.removed.includes('samples')) return 'CPU and memory usage expired (retention).';
  if (!run.finished_at) return 'No samples yet.';
  return run.started_at ? 'The run was too short to sample.' : 'The run never started.';
}

/** Builds the charts of a run. @param samples oldest first */
export function usageCharts(samples: readonly RunSample[]): UsageChart[] {
  const startMs = Date.parse(samples[0]?.time ?? '');
  const over = (value: (sample: RunSample) => number) =>
    samples.map((one): Point => [(Date.parse(one.time) - startMs) / 1000, value(one)]);
  const cpu = cpuShare(over((sample) => sample.cpu_seconds));
  return [
    chart('CPU', '--primary', cpu, (share) => `${Math.round(share)}%`),
    chart(
      'Memory',
      '--info',
      over((sample) => sample.memory_bytes),
      byteSize,
    ),
    chart(
      'Threads',
      '--success',
      over((sample) => sample.threads),
      (count) => (Number.isInteger(count) ? String(count) : ''),
    ),
  ];
}

/** Overlays the charts of two runs. Returns no charts unless both runs have at least two samples. */
export function usageTogether(
  before: readonly RunSample[],
  after: readonly RunSample[],
): UsageChart[] {
  if (before.length < 2 || after.length < 2) return [];
  const others = usageCharts(before);
  return usageCharts(after).map((chart, index) => {
    const other = others[index] ?? chart;
    const colored = (from: UsageChart, name: string, color: string) =>
      from.model.series.map((series) => ({ ...series, name, color }));
    return {
      title: chart.title,
      summary: `${other.summary}; then ${chart.summary}`,
      model: {
        ...chart.model,
        series: [
          ...colored(other, 'Other run', '--warning'),
          ...colored(chart, 'This run', '--primary'),
        ],
        range: [0, Math.max(other.model.range?.[1] ?? 0, chart.model.range?.[1] ?? 0)],
      },
    };
  });
}

/** Converts cumulative CPU time to CPU usage between neighboring samples, in percent of one core. */
export function cpuShare(cpuSeconds: readonly Point[]): Point[] {
  return cpuSeconds.slice(1).map(([time, used], index) => {
    const [before, usedBefore] = cpuSeconds[index] ?? [time, used];
    const share = time > before ? (100 * (used - usedBefore)) / (time - before) : 0;
    return [time, Math.max(0, share)];
  });
}

function chart(
  title: string,
  color: string,
  points: Point[],
  valueOf: (value: number) => string,
): UsageChart {
  const values = points.map(([, value]) => value);
  const now = values.at(-1);
  const summary =
    now === undefined ? 'no samples yet' : `${valueOf(now)}, peak ${valueOf(Math.max(...values))}`;
  const after = (seconds: number) => duration(seconds * 1000);
  const model: ChartModel = {
    kind: 'lines',
    series: [{ name: title, color, points }],
    range: [0, points.at(-1)?.[0] ?? 0],
    tickOf: after,
    titleOf: after,
    valueOf,
  };
  return { title, summary, model };
}
