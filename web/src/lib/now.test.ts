import { expect, test } from 'vitest';
import type { ListedScript, RecentRun } from './api/types.ts';
import { dueNext, failing, usualMs } from './now.ts';

const recent = (run_id: string, status: RecentRun['status'], duration_ms: number | null) =>
  ({ run_id, status, finished_at: null, duration_ms }) as RecentRun;

const script = (id: string, more: Partial<ListedScript> = {}) =>
  ({ id, enabled: true, last_run: null, ...more }) as ListedScript;

const last = (status: 'success' | 'failed', finished_at: string) => ({
  last_run: { run_id: 'r', status, finished_at },
});

const due = (next_fire_at: string | null, recent_runs: RecentRun[] = []) => ({
  activity: { recent_runs, next_fire_at },
});

const idsOf = (scripts: readonly ListedScript[]) => scripts.map(({ id }) => id);

test('failing is what is on and failed last, the latest first', () => {
  const scripts = [
    script('fine', last('success', '2026-11-21T03:00:00Z')),
    script('old', last('failed', '2026-11-21T01:00:00Z')),
    script('new', last('failed', '2026-11-21T02:00:00Z')),
    script('off', { enabled: false, ...last('failed', '2026-11-21T02:00:00Z') }),
    script('never'),
  ];
  expect(idsOf(failing(scripts))).toEqual(['new', 'old']);
});

test('due next is what is on and has a due time, the nearest first', () => {
  const scripts = [
    script('later', due('2026-11-23T00:00:00Z')),
    script('soon', due('2026-11-22T00:00:00Z')),
    script('never', due(null)),
    script('off', { enabled: false, ...due('2026-11-22T00:00:00Z') }),
  ];
  expect(idsOf(dueNext(scripts))).toEqual(['soon', 'later']);
});

test('a run usually takes what the middle one of the latest successes took', () => {
  const runs = [
    recent('5', 'running', null),
    recent('4', 'success', 30),
    recent('3', 'failed', 9000),
    recent('2', 'success', 10),
    recent('1', 'success', 20),
  ];
  expect(usualMs(script('s', due(null, runs)))).toBe(20);
  expect(usualMs(script('s'))).toBeUndefined();
});
