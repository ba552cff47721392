import { expect, test } from 'vitest';
import type { Schedule } from '#lib/api/types.ts';
import { bodyOf, draftOf, newDraft, timingOf } from './draft.ts';

const schedule = {
  kind: 'interval',
  cron: null,
  timezone: 'Europe/Berlin',
  interval_seconds: 5400,
  start_at: '2026-11-21T02:31:30.000Z',
  end_at: null,
  catch_up: 'all',
  max_lateness_seconds: 90,
  overlap: 'queue',
  params: { limit: 10 },
} as unknown as Schedule;

test('a schedule that is opened and saved untouched stays as it is', () => {
  const draft = draftOf(schedule);
  expect([draft.every, draft.unit]).toEqual([90, 'minutes']);
  expect(bodyOf(draft)).toEqual(schedule);
});

test('the other kind is forgotten', () => {
  const draft = { ...draftOf(schedule), kind: 'cron' as const, cron: ' @daily ' };
  expect(timingOf(draft)).toMatchObject({ kind: 'cron', cron: '@daily', interval_seconds: null });
});

test('what says no due time yet is not asked for', () => {
  expect(timingOf({ ...newDraft('UTC'), cron: ' ' })).toBeNull();
  expect(timingOf({ ...newDraft('UTC'), kind: 'interval', every: null })).toBeNull();
});

test('parameters are an object or nothing', () => {
  expect(bodyOf(newDraft('UTC')).params).toBeNull();
  expect(() => bodyOf({ ...newDraft('UTC'), params: '[1]' })).toThrow('JSON object');
});
