/** Series over time as charts. */
import type { MetricName, Timeseries } from '#lib/api/types.ts';
import type { ChartModel, Series } from '#lib/ui/charts/model.ts';
import { byteSize, duration, localTime, offsetMs } from '#lib/ui/format.ts';

export interface FigureChart {
  title: string;
  summary: string;
  model: ChartModel;
}

interface Look {
  title: string;
  kind: ChartModel['kind'];
  valueOf: (value: number) => string;
  /** Names and colors of the series. */
  series: Record<string, { name: string; color: string }>;
  /** The summary of the last series. */
  sumUp: (values: number[]) => string;
}

const whole = (count: number) => (Number.isInteger(count) ? count.toLocaleString('en') : '');
const total = (values: number[]) => values.reduce((sum, value) => sum + value, 0);
const most = (values: number[]) => Math.max(...values);

/** Duration percentiles. */
const percentiles: Omit<Look, 'title'> = {
  kind: 'lines',
  valueOf: duration,
  series: {
    p50: { name: 'Median', color: '--info' },
    p95: { name: 'p95', color: '--primary' },
  },
  sumUp: (values) => `p95 up to ${duration(most(values))}`,
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
    sumUp: (values) => `${whole(total(values))} total`,
  },
  errors: {
    title: 'Errors',
    kind: 'bars',
    valueOf: whole,
    series: { failed: { name: 'Failed', color: '--danger' } },
    sumUp: (values) => `${whole(total(values))} total`,
  },
  duration: { title: 'Duration', ...percentiles },
  queue: { title: 'Queue wait', ...percentiles },
  cpu: {
    title: 'CPU time',
    kind: 'bars',
    valueOf: (seconds) => duration(seconds * 1000),
    series: { cpu_seconds: { name: 'CPU time', color: '--info' } },
    sumUp: (values) => `${duration(total(values) * 1000)} total`,
  },
  memory: {
    title: 'Memory',
    kind: 'lines',
    valueOf: byteSize,
    series: { max_bytes: { name: 'Peak per run', color: '--primary' } },
    sumUp: (values) => `peak ${byteSize(most(values))}`,
  },
};

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;
const steps = [10 * minuteMs, hourMs, 4 * hourMs, dayMs, 7 * dayMs, 15 * dayMs, 30 * dayMs];
const mostTicks = 7;

/** The time range of the points, and round times in the user's time zone within it. */
export function rangeOf(points: Series['points']): Pick<ChartModel, 'range' | 'ticks'> {
  const [first, last] = [points[0]?.[0], points.at(-1)?.[0]];
  if (first === undefined || last === undefined) return {};
  const step = steps.find((one) => (last - first) / one < mostTicks) ?? last - first;
  const offset = -offsetMs(last);
  const ticks: number[] = [];
  for (let at = Math.ceil((first - offset) / step) * step + offset; at <= last; at += step) {
    ticks.push(at);
  }
  return { range: [first, last], ticks };
}

/** The chart of a metric.
 *  @param tickOf formats a time in milliseconds as a short text */
export function figureChart(
  metric: MetricName,
  { series, bucket_seconds: bucketSeconds }: Timeseries,
  tickOf: (ms: number) => string,
): FigureChart {
  const look = looks[metric];
  const shown = series.map(({ name, points }): Series => {
    const known = look.series[name] ?? { name, color: '--primary' };
    return { ...known, points: points.map(([time, value]) => [Date.parse(String(time)), value]) };
  });
  const summed = metric === 'runs' ? shown : shown.slice(-1);
  const values = summed.flatMap(({ points }) => points.flatMap(([, value]) => value ?? []));
  const some = values.some((value) => value > 0);
  return {
    title: look.title,
    summary: some ? look.sumUp(values) : 'none',
    model: {
      kind: look.kind,
      series: shown,
      ...rangeOf(shown[0]?.points ?? []),
      tickOf,
      titleOf: (ms) =>
        `${localTime(new Date(ms).toISOString())}, ${duration(bucketSeconds * 1000)}`,
      valueOf: look.valueOf,
    },
  };
}
