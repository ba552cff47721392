/** The due times of the next day as a chart. */
import type { DashboardFires } from '#lib/api/types.ts';
import { dayTime, localTime } from '#lib/ui/format.ts';
import { rangeOf, type FigureChart } from './metric-charts.ts';

const hourMs = 3_600_000;

export function dueChart({ from, to, counted_until: until, hours }: DashboardFires): FigureChart {
  const total = hours.reduce((sum, { due }) => sum + due, 0).toLocaleString('en');
  const first = Math.floor(Date.parse(from) / hourMs) * hourMs;
  const points = hours.map(({ begins_at: begins, due }): [number, number] => [
    Math.floor(Date.parse(begins) / hourMs) * hourMs,
    due,
  ]);
  return {
    title: 'Due in the next 24 hours',
    summary: until === to ? `${total} total` : `${total} until ${localTime(until)}; more follow`,
    model: {
      kind: 'bars',
      series: [{ name: 'Due', color: '--info', points }],
      ...rangeOf([
        [first, 0],
        [Date.parse(to), 0],
      ]),
      tickOf: (ms) => dayTime(ms, false),
      titleOf: (ms) => `${localTime(new Date(ms).toISOString())}, 1 hour`,
      valueOf: (count) => (Number.isInteger(count) ? count.toLocaleString('en') : ''),
    },
  };
}
