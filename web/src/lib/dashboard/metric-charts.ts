/** Converts time series to charts. */
import type { DashboardOverview, MetricName } from '#lib/api/types.ts';
import { runScatter } from '#lib/runs/run-scatter.ts';
import { axisOf } from '#lib/ui/charts/axes.ts';
import type { ChartModel, Series } from '#lib/ui/charts/model.ts';
import { byteSize, counted, dayTime, duration, localTime } from '#lib/ui/format.ts';

export interface FigureChart {
  title: string;
  summary: string;
  model: ChartModel;
}

interface Look {
  title: string;
  kind: ChartModel['kind'];
  valueOf: (value: number) => string;
  /** The names and colors of the series. */
  series: Record<string, { name: string; color: string }>;
  /** Formats the metric's value over the whole range, or null if there were no runs. */
  sumUp: (totals: DashboardOverview['totals']) => string | null;
}

const whole = (count: number) => (Number.isInteger(count) ? count.toLocaleString('en') : '');
const total = (count: number) => (count > 0 ? `${whole(count)} total` : null);
const p95 = (ms: number | null) => (ms === null ? null : `p95 ${duration(ms)}`);

/** The chart settings for duration percentiles. */
const percentiles: Omit<Look, 'title' | 'sumUp'> = {
  kind: 'lines',
  valueOf: duration,
  series: {
    p50: { name: 'Median', color: '--info' },
    p95: { name: 'p95', color: '--primary' },
  },
};

const looks: Record<MetricName, Look> = {
  runs: {
    title: 'Runs',
    kind: 'bars',
    valueOf: whole,
    series: {
      success: { name: 'Success', color: '--success' },
      failed: { name: 'Failed', color: '--danger' },
      stopped: { name: 'Stopped', color: '--muted-foreground' },
    },
    sumUp: ({ success, failed, stopped }) => total(success + failed + stopped),
  },
  errors: {
    title: 'Errors',
    kind: 'bars',
    valueOf: whole,
    series: { failed: { name: 'Failed', color: '--danger' } },
    sumUp: ({ failed }) => total(failed),
  },
  duration: {
    title: 'Duration',
    ...percentiles,
    sumUp: ({ duration_p95_ms: ms }) => p95(ms),
  },
  queue: { title: 'Queue time', ...percentiles, sumUp: ({ queue_p95_ms: ms }) => p95(ms) },
  cpu: {
    title: 'CPU time',
    kind: 'bars',
    valueOf: (seconds) => duration(seconds * 1000),
    series: { cpu_seconds: { name: 'CPU time', color: '--info' } },
    sumUp: ({ cpu_seconds: seconds }) => (seconds > 0 ? `${duration(seconds * 1000)} total` : null),
  },
  memory: {
    title: 'Memory',
    kind: 'lines',
    valueOf: byteSize,
    series: { max_bytes: { name: 'Peak per run', color: '--primary' } },
    sumUp: ({ max_memory_bytes: bytes }) => (bytes === null ? null : `peak ${byteSize(bytes)}`),
  },
};

const dayMs = 86_400_000;

/** Builds the chart of a metric. All metrics of an overview share one time axis. The axis ends at the end of the
 *  overview or in the middle of the last bucket, where half of the last bar is visible. */
export function figureChart(metric: MetricName, overview: DashboardOverview): FigureChart {
  const look = looks[metric];
  const bucketMs = overview.bucket_seconds * 1000;
  const middleOf = (time: string) => Date.parse(time) + bucketMs / 2;
  const shown = overview.series[metric].map(({ name, points }): Series => {
    const known = look.series[name] ?? { name, color: '--primary' };
    return { ...known, points: points.map(([time, value]) => [middleOf(String(time)), value]) };
  });
  const [from, to] = [Date.parse(overview.from), Date.parse(overview.to)];
  const last = shown[0]?.points.at(-1)?.[0] ?? to;
  const beginOf = (ms: number) => new Date(Math.floor(ms / bucketMs) * bucketMs).toISOString();
  return {
    title: look.title,
    summary: look.sumUp(overview.totals) ?? 'none',
    model: {
      kind: look.kind,
      series: shown,
      ...axisOf(from, Math.max(to, last)),
      tickOf: (ms) => dayTime(ms, to - from > 2 * dayMs),
      titleOf: (ms) => `${localTime(beginOf(ms))}, ${duration(bucketMs)}`,
      valueOf: look.valueOf,
    },
  };
}

/** Builds a chart of single runs by status, with the time axis of the other charts. */
export function runsChart(overview: DashboardOverview): FigureChart {
  const { range, ticks, tickOf } = figureChart('runs', overview).model;
  const { success, failed, stopped } = overview.totals;
  const total = success + failed + stopped;
  return {
    title: 'Run duration',
    // The chart shows a sample of the runs.
    summary: total === 0 ? 'none' : `${counted(total, 'run')}, ${failed} failed`,
    model: {
      ...runScatter(overview.runs).model,
      tickOf,
      ...(range && { range }),
      ...(ticks && { ticks }),
    },
  };
}
