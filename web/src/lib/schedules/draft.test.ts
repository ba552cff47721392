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

test('leaves a schedule unchanged when it is opened and saved', () => {
  const draft = draftOf(schedule);
  expect([draft.every, draft.unit]).toEqual([90, 'minutes']);
  expect(bodyOf(draft)).toEqual(schedule);
});

test('omits the fields of the other kind', () => {
  const draft = { ...draftOf(schedule), kind: 'cron' as const, cron: ' @daily ' };
  expect(timingOf(draft)).toMatchObject({ kind: 'cron', cron: '@daily', interval_seconds: null });
});

test('sends the due time of a one-shot schedule, and no dates', () => {
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

test('requests no preview without a complete schedule', () => {
  expect(timingOf({ ...newDraft('UTC'), cron: ' ' })).toBeNull();
  expect(timingOf({ ...newDraft('UTC'), kind: 'interval', every: null })).toBeNull();
});

test('accepts only an object or empty text as parameters', () => {
  expect(bodyOf(newDraft('UTC')).params).toBeNull();
  expect(() => bodyOf({ ...newDraft('UTC'), params: '[1]' })).toThrow('JSON object');
});
