import type { Recorded } from '#domain/aggregates.ts';
import type { DomainEvent } from '#domain/kernel/event.ts';
import { recorded } from '#domain/testing/recorded.ts';
import { runId, scheduleId, scriptId } from '#domain/testing/ids.ts';
import { runFinished, scriptCreated } from '#domain/testing/samples.ts';
import { describe, expect, test } from 'vitest';
import { announcements } from './announcements.ts';

const told = (event: DomainEvent) => announcements([recorded(event, 7) as Recorded]).slice(0, -1);

describe('announcements of recorded events', () => {
  test('include the version of a saved script', () => {
    const saved = { scriptId: scriptId(), version: 3, path: 'main.py' };
    const updated = { topic: 'script-updated', scriptId: scriptId(), position: 7 };
    const time = '2026-01-01T00:00:07.000Z';
    expect(told({ type: 'FileDeleted', data: saved })).toEqual([{ ...updated, version: 3, time }]);
    expect(told(scriptCreated())).toEqual([{ ...updated, version: 1, time }]);
  });

  test('include the outcome of a finished run', () => {
    const completed = {
      topic: 'script-completed',
      scriptId: scriptId(),
      runId: runId(),
      position: 7,
    };
    const status = { topic: 'status', runId: runId() };
    expect(told(runFinished())).toEqual([status, { ...completed, status: 'success', exitCode: 0 }]);
    expect(told(runFinished({ outcome: 'timeout', exitCode: null }))).toEqual([
      status,
      { ...completed, status: 'failed', exitCode: null },
    ]);
  });

  test('tell schedulers to reload a changed schedule', () => {
    const data = { scheduleId: scheduleId(), scriptId: scriptId() };
    expect(told({ type: 'ScheduleDeleted', data })).toEqual([
      { topic: 'reload', ...data, position: 7 },
    ]);
  });
});
