import { expect, test } from 'vitest';
import { runScatter } from './run-scatter.ts';

test('the scatter plot shows runs by status, each with a shape and a link', () => {
  const queued_at = '2026-11-21T02:20:00.000Z';
  const run = { script_name: 'Daily report', queued_at };
  const { summary, model } = runScatter([
    { ...run, run_id: 'one', status: 'success', duration_ms: 840 },
    { ...run, run_id: 'two', status: 'failed', duration_ms: 0 },
    { ...run, run_id: 'three', status: 'stopped', duration_ms: null },
  ]);
  expect(summary).toBe('3 runs, 1 failed');
  const at = Date.parse(queued_at);
  expect(model.series.map(({ points }) => points)).toEqual([[[at, 840]], [[at, 1]], []]);
  expect(new Set(model.series.map(({ shape }) => shape)).size).toBe(3);
  expect(model.series[1]?.items).toEqual([{ label: 'Daily report', href: '/runs/two' }]);
  expect(runScatter([]).summary).toBe('none');
});
