import { expect, test } from 'vitest';
import { axisOf, decadesOf } from './axes.ts';

const from = '2026-11-21T02:00:00.000Z';
const hourMs = 3_600_000;

test('the labels of a time axis are at round times', () => {
  const { range, ticks } = axisOf(Date.parse(from), Date.parse(from) + 24 * hourMs);
  expect(range).toEqual([Date.parse(from), Date.parse(from) + 24 * hourMs]);
  expect(ticks.map((ms) => new Date(ms).getHours() % 4)).toEqual([0, 0, 0, 0, 0, 0]);
});

test('a logarithmic axis has at least two labels', () => {
  const decades = (...values: number[]) =>
    decadesOf({ series: [{ name: '', color: '', points: values.map((value) => [0, value]) }] });
  expect(decades(125, 264)).toEqual({ min: 100, max: 1000 });
  expect(decades(100)).toEqual({ min: 100, max: 1000 });
  expect(decades(7, 1000)).toEqual({ min: 1, max: 1000 });
  expect(decades()).toEqual({ min: 1, max: 10 });
});
