import { expect, test } from 'vitest';
import { progressJson } from './view.ts';

const started = new Date('2026-11-21T02:00:00Z');
const run = { started_at: started, finished_at: null };
const after = (seconds: number) => new Date(started.getTime() + seconds * 1000);
const report = (fraction: number, seconds = 60) => ({
  fraction,
  text: 'page 4',
  reportedAt: after(seconds),
});

test('the end of a run is estimated from the average speed so far', () => {
  expect(progressJson(run, report(0.25))).toEqual({
    fraction: 0.25,
    text: 'page 4',
    eta: after(240),
  });
  expect(progressJson(run, report(0.9, 9))?.eta).toEqual(after(10));
});

test.each([
  ['below 1 %', run, report(0.009)],
  ['at 100 %', run, report(1)],
  ['after the end of the run', { ...run, finished_at: after(90) }, report(0.5)],
  ['for a run that has not started', { ...run, started_at: null }, report(0.5)],
  ['for a report of an earlier version', run, { ...report(0.5), reportedAt: null }],
])('the end of a run is not estimated %s', (_case, times, progress) => {
  expect(progressJson(times, progress)).toMatchObject({ text: 'page 4', eta: null });
});

test('a run without a report has no progress', () => {
  expect(progressJson(run, undefined)).toBeNull();
  expect(progressJson(run, null)).toBeNull();
});
