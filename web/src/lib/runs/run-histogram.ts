/** Builds a chart of finished runs over time, in which the user selects a time range. */
import type { Timeseries } from '#lib/api/types.ts';
import type { ChartModel } from '#lib/ui/charts/model.ts';
import { counted, dayTime, localTime } from '#lib/ui/format.ts';

const looks: Record<string, { name: string; color: string }> = {
  success: { name: 'Success', color: '--success' },
  failed: { name: 'Failed', color: '--danger' },
  stopped: { name: 'Stopped', color: '--muted-foreground' },
};

export function runHistogram({ bucket_seconds: seconds, series }: Timeseries): {
  summary: string;
  model: ChartModel;
} {
  const middleOf = (time: string) => Date.parse(time) + seconds * 500;
  const total = series
    .flatMap(({ points }) => points)
    .reduce((sum, [, value]) => sum + Number(value ?? 0), 0);
  return {
    summary: counted(total, 'run'),
    model: {
      kind: 'bars',
      series: series.map(({ name, points }) => ({
        ...(looks[name] ?? { name, color: '--primary' }),
        points: points.map(([time, value]) => [middleOf(String(time)), Number(value ?? 0)]),
      })),
      tickOf: (ms) => dayTime(ms, true),
      titleOf: (ms) => localTime(new Date(ms - seconds * 500).toISOString()),
      valueOf: (count) => (Number.isInteger(count) ? count.toLocaleString('en') : ''),
    },
  };
}
