/** Builds a chart of the due times in the next 24 hours. */
import type { DashboardFires } from '#lib/api/types.ts';
import { dayTime, localTime } from '#lib/ui/format.ts';
import { axisOf } from '#lib/ui/charts/axes.ts';
import type { FigureChart } from './metric-charts.ts';

const hourMs = 3_600_000;

function hourOf(ms: number): number {
  return Math.floor(ms / hourMs) * hourMs;
}

export function dueChart({ from, to, counted_until: until, hours }: DashboardFires): FigureChart {
  const total = hours.reduce((sum, { due }) => sum + due, 0).toLocaleString('en');
  const points = hours.map(({ begins_at: begins, due }): [number, number] => [
    hourOf(Date.parse(begins)) + hourMs / 2,
    due,
  ]);
  return {
    title: 'Due in the next 24 hours',
    summary:
      until === to ? `${total} total` : `${total} until ${localTime(until)}, more after that`,
    model: {
      kind: 'bars',
      series: [{ name: 'Due', color: '--info', points }],
      ...axisOf(hourOf(Date.parse(from)), Date.parse(to)),
      tickOf: (ms) => dayTime(ms, false),
      titleOf: (ms) => `${localTime(new Date(hourOf(ms)).toISOString())}, 1 hour`,
      valueOf: (count) => (Number.isInteger(count) ? count.toLocaleString('en') : ''),
    },
  };
}
