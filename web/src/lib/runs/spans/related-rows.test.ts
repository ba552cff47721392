import { expect, test } from 'vitest';
import type { RelatedRun } from '#lib/api/types.ts';
import { relatedRows } from './related-rows.ts';

const at = (ms: number) => new Date(ms).toISOString();
const run = (id: string, cause: string | null, times: readonly (number | null)[]): RelatedRun => {
  const [queued, started, finished] = times.map((ms) => (ms === null ? null : at(ms)));
  return {
    run_id: id,
    cause_run_id: cause,
    relation: cause === null ? null : 'chain',
    script_id: 's',
    script_name: id,
    status: finished ? 'success' : started ? 'running' : 'queued',
    attempt: 1,
    queued_at: queued ?? at(0),
    started_at: started ?? null,
    finished_at: finished ?? null,
    critical: false,
  };
};

test('each run is placed below the run that triggered it, on a shared time scale', () => {
  const rows = relatedRows(
    [
      run('first', null, [0, 100, 400]),
      run('second', 'first', [400, 500, null]),
      run('hidden cause', 'elsewhere', [50, 50, 100]),
      run('third', 'second', [600, null, null]),
    ],
    1000,
  );
  expect(rows.map(({ run: { run_id }, depth }) => `${depth} ${run_id}`)).toEqual([
    '0 first',
    '1 second',
    '2 third',
    '0 hidden cause',
  ]);
  expect(rows[0]).toMatchObject({
    queue: { left: 0, width: 0.1 },
    active: { left: 0.1, width: 0.3 },
  });
  expect(rows[1]).toMatchObject({ active: { left: 0.5, width: 0.5 }, totalMs: 600 });
  expect(rows[2]).toMatchObject({ queue: { left: 0.6, width: 0.4 }, active: null });
});
