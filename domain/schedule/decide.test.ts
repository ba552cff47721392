import { scheduleId, scriptId } from '#domain/testing/ids.ts';
import { createSchedule, hourly } from '#domain/testing/samples.ts';
import { describe, expect, test } from 'vitest';
import type { ScheduleCommand } from './commands.ts';
import { decideSchedule, scheduleAggregate } from './decide.ts';
import type { ScheduleEvent } from './events.ts';

const ids = { scheduleId: scheduleId(), scriptId: scriptId() };
const created: ScheduleEvent = { type: 'ScheduleCreated', data: { ...ids, definition: hourly } };
const deleted: ScheduleEvent = { type: 'ScheduleDeleted', data: ids };
const facts = { scriptExists: true, calendarExists: true, servedUntil: '' };

function decide(history: readonly ScheduleEvent[], command: ScheduleCommand, more = {}) {
  const state = history.reduce(scheduleAggregate.evolve, scheduleAggregate.initial);
  const decision = decideSchedule(state, command, { ...facts, ...more });
  return decision.kind === 'accepted' ? decision.events : decision.refusal.code;
}

describe('a schedule that does not exist yet', () => {
  test('is created only once', () => {
    expect(decide([], createSchedule())).toEqual([created]);
    expect(decide([created], createSchedule())).toEqual([]);
    expect(decide([created, deleted], createSchedule())).toEqual([]);
  });

  test('cannot be created with an invalid definition, or if its script or calendar does not exist', () => {
    const definition = { ...hourly, timezone: 'Mars/Olympus' };
    expect(decide([], createSchedule({ definition }))).toBe('validation_failed');
    expect(decide([], createSchedule(), { scriptExists: false })).toBe('not_found');
    const unknown = { calendarExists: false };
    expect(decide([], createSchedule(), unknown)).toBe('validation_failed');
  });
});

describe('an existing schedule', () => {
  const change = (changes: object, expectedVersion?: number): ScheduleCommand => ({
    type: 'ChangeSchedule',
    ...ids,
    definition: { ...hourly, ...changes },
    ...(expectedVersion !== undefined && { expectedVersion }),
  });
  const definition = { ...hourly, overlap: 'queue' } as const;
  const changed: ScheduleEvent = { type: 'ScheduleChanged', data: { ...ids, definition } };

  test('records a repeated definition change only once', () => {
    expect(decide([created], change({ overlap: 'queue' }, 1))).toEqual([changed]);
    expect(decide([created, changed], change({ overlap: 'queue' }))).toEqual([]);
  });

  test('refuses changes based on an outdated version, and changes after its deletion', () => {
    const remove = { type: 'DeleteSchedule', ...ids } as const;
    expect(decide([created, changed], change({}, 1))).toBe('version_mismatch');
    expect(decide([created], { ...remove, expectedVersion: 2 })).toBe('version_mismatch');
    expect(decide([created], remove)).toEqual([deleted]);
    expect(decide([created, deleted], remove)).toBe('not_found');
    expect(decide([created, deleted], change({}))).toBe('not_found');
    expect(decide([created], change({ timezone: 'x' }))).toBe('validation_failed');
  });

  test('skips due times that are already settled', () => {
    const occurrence = (dueAt: string) => ({ dueAt, outcome: 'missed', reason: 'late' }) as const;
    const both = [occurrence('2026-01-01T01:00:00.000Z'), occurrence('2026-01-01T02:00:00.000Z')];
    const pass = { type: 'PassOccurrences', ...ids, occurrences: both } as const;
    const servedUntil = '2026-01-01T01:00:00.000Z';
    expect(decide([created], pass, { servedUntil })).toEqual([
      { type: 'OccurrencesPassed', data: { ...ids, occurrences: both.slice(1) } },
    ]);
    expect(decide([], pass)).toBe('not_found');
  });
});
