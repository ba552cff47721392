/** Calculates the ranges and labels of chart axes. */
import { offsetMs } from '#lib/ui/format.ts';
import type { ChartModel } from './model.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;
const steps = [10 * minuteMs, hourMs, 4 * hourMs, dayMs, 7 * dayMs, 15 * dayMs, 30 * dayMs];
const maxTicks = 7;

/** Returns a time axis in milliseconds, with ticks at round times in the user's time zone. */
export function axisOf(first: number, last: number): Required<Pick<ChartModel, 'range' | 'ticks'>> {
  const step = steps.find((one) => (last - first) / one < maxTicks) ?? last - first;
  const offset = -offsetMs(last);
  const ticks: number[] = [];
  for (let at = Math.ceil((first - offset) / step) * step + offset; at <= last; at += step) {
    ticks.push(at);
  }
  return { range: [first, last], ticks };
}

/** Returns the nearest powers of ten below and above all values, so that a logarithmic axis has at least two labels. */
export function decadesOf({ series }: Pick<ChartModel, 'series'>): { min: number; max: number } {
  const values = series.flatMap(({ points }) => points.map(([, value]) => Math.max(1, value ?? 1)));
  if (values.length === 0) return { min: 1, max: 10 };
  const least = Math.floor(Math.log10(Math.min(...values)));
  const most = Math.ceil(Math.log10(Math.max(...values)));
  return { min: 10 ** least, max: 10 ** Math.max(most, least + 1) };
}
