import { expect, test } from 'vitest';
import type { Schedule } from '#lib/api/types.ts';
import { bodyOf, draftOf, newDraft, timingOf } from './draft.ts';

const schedule = {
  name: 'Twice a morning',
  kind: 'interval',
  cron: null,
  timezone: 'Europe/Berlin',
  interval_seconds: 5400,
  start_at: '2026-11-21T02:31:30.000Z',
  end_at: null,
  catch_up: 'all',
  max_lateness_seconds: 90,
  overlap: 'queue',
  calendar_id: null,
  params: { limit: 10 },
} as unknown as Schedule;

test('opening and saving a schedule leaves it unchanged', () => {
  const draft = draftOf(schedule);
  expect([draft.every, draft.unit]).toEqual([90, 'minutes']);
  expect(bodyOf(draft)).toEqual(schedule);
});

test('the fields of other schedule kinds are omitted', () => {
  const draft = { ...draftOf(schedule), kind: 'cron' as const, cron: ' @daily ' };
  expect(timingOf(draft)).toMatchObject({ kind: 'cron', cron: '@daily', interval_seconds: null });
});

test('a one-time schedule has a due time, but no start or end date', () => {
  const once = { ...schedule, kind: 'once', interval_seconds: null, start_at: null } as Schedule;
  const draft = draftOf({ ...once, once_at: '2026-12-24T17:00:00.000Z' });
  expect(timingOf({ ...draft, startAt: '2026-11-21T03:31' })).toEqual({
    kind: 'once',
    cron: null,
    interval_seconds: null,
    once_at: '2026-12-24T17:00:00.000Z',
    timezone: 'Europe/Berlin',
    calendar_id: null,
  });
  expect(timingOf({ ...draft, onceAt: '' })).toBeNull();
});

test('an incomplete schedule has no preview', () => {
  expect(timingOf({ ...newDraft('UTC'), cron: ' ' })).toBeNull();
  expect(timingOf({ ...newDraft('UTC'), kind: 'interval', every: null })).toBeNull();
});

test('the parameters must be a JSON object or empty', () => {
  expect(bodyOf(newDraft('UTC')).params).toBeNull();
  expect(() => bodyOf({ ...newDraft('UTC'), params: '[1]' })).toThrow('JSON object');
});
