import { expect, test } from 'vitest';
import { dueChart } from './due-chart.ts';

const from = '2026-11-21T02:20:00.000Z';
const to = '2026-11-22T02:20:00.000Z';
const hours = [
  { begins_at: from, due: 3 },
  { begins_at: '2026-11-21T03:00:00.000Z', due: 1200 },
];

test('the chart shows the due times per hour and their total', () => {
  const { model, summary } = dueChart({ from, to, counted_until: to, hours });
  expect(summary).toBe('1,203 total');
  expect(model.series[0]?.points).toEqual([
    [Date.parse('2026-11-21T02:30:00.000Z'), 3],
    [Date.parse('2026-11-21T03:30:00.000Z'), 1200],
  ]);
});

test('the chart states the time after which due times were not counted', () => {
  const { summary } = dueChart({ from, to, counted_until: '2026-11-21T04:00:00.000Z', hours });
  expect(summary).toMatch(/^1,203 until .*, more after that$/);
});
