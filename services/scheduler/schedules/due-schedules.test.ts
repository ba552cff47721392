// Long because all tests share one platform.
import type { Command } from '#domain/aggregates.ts';
import { mustParse, parseRunId } from '#domain/kernel/ids.ts';
import type { Commands } from '#domain/ports/commands.ts';
import type { ScheduleDefinition } from '#domain/schedule/schedule.ts';
import { defaultSettings } from '#domain/script/settings.ts';
import { calendarId, scheduleId, scriptId } from '#domain/testing/ids.ts';
import {
  createGroup,
  createSchedule,
  createScript,
  finishRun,
  hourly,
  runScript,
} from '#domain/testing/samples.ts';
import { systemIds } from '#infra/system/ids.ts';
import {
  openTestPlatform,
  recordedBy,
  userContext,
  type TestPlatform,
} from '#infra/testing/platform.ts';
import { activeRunsOf } from '#projections/schedules/due.ts';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { releaseWaitingRuns } from '../waiting-runs.ts';
import { serveDueSchedules } from './due-schedules.ts';

let platform: TestPlatform;
let commands: Commands;
let now: Date;
const clock = { now: () => now };
beforeEach(async () => {
  platform = await openTestPlatform();
  commands = platform.pipeline({ clock });
  now = new Date('2026-05-01T00:10:00Z');
  await ask(createGroup());
  await ask(createScript({ settings: { ...defaultSettings, maxConcurrentRuns: 2 } }));
});
afterEach(() => platform.close());

const ids = { scheduleId: scheduleId(), scriptId: scriptId() };

async function ask(command: Command) {
  return recordedBy(await commands.execute(command, userContext()));
}

/** Runs one round of new schedulers at the given time on 1 May 2026. */
async function serveAt(time: string, schedulers = 1, through = commands): Promise<void> {
  now = new Date(`2026-05-01T${time}Z`);
  const parts = { reads: platform.reads, commands: through, ids: systemIds };
  await Promise.all(Array.from({ length: schedulers }, () => serveDueSchedules(parts, now)));
}

async function every(changes: Partial<ScheduleDefinition> = {}): Promise<void> {
  await ask(createSchedule({ definition: { ...hourly, ...changes } as ScheduleDefinition }));
}

/** Returns the outcomes of the due times, such as `01:00 fired`. */
async function ledger(): Promise<readonly string[]> {
  const rows = await platform.reads
    .selectFrom('schedule_occurrences')
    .selectAll()
    .orderBy('due_at')
    .execute();
  return rows.map(({ due_at, outcome, reason, run_id }) => {
    expect(run_id === null).toBe(reason !== null);
    const text = `${due_at.toISOString().slice(11, 16)} ${outcome}`;
    return reason === null ? text : `${text}: ${reason}`;
  });
}

async function runs() {
  return await platform.reads.selectFrom('runs').selectAll().orderBy('run_id').execute();
}

async function fenceOf(runId: string): Promise<number | null | undefined> {
  return (await runs()).find((one) => one.run_id === runId)?.fence;
}

async function endAll(): Promise<void> {
  for (const run of await runs()) {
    const runId = mustParse(parseRunId, run.run_id);
    if (run.finished_at !== null) continue;
    await ask({ type: 'StartRun', runId, runtimeId: 'a', layers: [] });
    await ask(finishRun({ runId }));
  }
}

describe('an hourly schedule with a calendar', () => {
  beforeEach(async () => {
    const periods = [
      { summary: 'Freeze', from: '2026-05-01T02:00:00Z', to: '2026-05-01T04:00:00Z' },
    ];
    await ask({
      type: 'CreateCalendar',
      calendarId: calendarId(),
      name: 'Maintenance',
      content: { periods, coveredUntil: '2031-01-01T00:00:00.000Z' },
    });
    await every({ calendarId: calendarId() });
  });

  test('records the due times during calendar events as skipped', async () => {
    for (const time of ['01:00:00', '02:00:00', '03:00:00', '04:00:00']) {
      await serveAt(time);
      await endAll();
    }
    expect(await ledger()).toEqual([
      '01:00 fired',
      '02:00 skipped: calendar_event',
      '03:00 skipped: calendar_event',
      '04:00 fired',
    ]);
  });

  test('catches up with the last missed due time outside calendar events', async () => {
    await serveAt('03:30:00');
    expect((await ledger()).slice(1)).toEqual([
      '02:00 skipped: calendar_event',
      '03:00 skipped: calendar_event',
    ]);
    expect(await runs()).toHaveLength(0);
  });
});

describe('an hourly schedule', () => {
  beforeEach(() => every());

  test('starts one run per due time, even with several schedulers', async () => {
    await serveAt('00:59:59.999');
    expect(await runs()).toEqual([]);
    await serveAt('01:00:00', 3, platform.pipeline({ clock }));
    await serveAt('01:00:01');
    expect(await runs()).toMatchObject([
      {
        status: 'queued',
        waiting: false,
        requested_by: 'scheduler',
        trigger: {
          type: 'schedule',
          scheduleId: scheduleId(),
          dueAt: '2026-05-01T01:00:00.000Z',
          outcome: 'fired',
        },
      },
    ]);
    expect(await ledger()).toEqual(['01:00 fired']);
    expect(await platform.reads.selectFrom('schedules').selectAll().execute()).toMatchObject([
      {
        last_fire_at: new Date('2026-05-01T01:00:00Z'),
        next_fire_at: new Date('2026-05-01T02:00:00Z'),
      },
    ]);
  });

  test('does not repeat due times after the clock is set back', async () => {
    await serveAt('01:00:00');
    await endAll();
    await serveAt('00:30:00');
    await serveAt('01:00:00');
    expect(await ledger()).toEqual(['01:00 fired']);
    expect(await runs()).toHaveLength(1);
  });

  test('skips a due time while the previous run is active', async () => {
    await serveAt('01:00:00');
    await serveAt('02:00:00');
    await endAll();
    await serveAt('03:00:00');
    expect(await ledger()).toEqual(['01:00 fired', '02:00 skipped: run_overlaps', '03:00 fired']);
  });

  test('skips a due time, and records the reason, if the script has no free slot or is disabled', async () => {
    for (const number of [1, 2]) {
      const runId = mustParse(parseRunId, systemIds.derived(scriptId(), String(number)));
      await ask(runScript({ runId }));
    }
    await serveAt('01:00:00');
    await ask({ type: 'DisableScript', scriptId: scriptId() });
    await serveAt('02:00:00');
    expect(await ledger()).toEqual([
      '01:00 skipped: concurrency_limit_reached',
      '02:00 skipped: script_disabled',
    ]);
  });

  test('catches up with the last missed due time, but not with older ones that are too late', async () => {
    await serveAt('04:30:00');
    await serveAt('04:30:01');
    expect(await ledger()).toEqual([
      '01:00 missed: too_late',
      '02:00 missed: too_late',
      '03:00 missed: too_late',
      '04:00 caught_up',
    ]);
  });

  test('records that a run started slightly late', async () => {
    await serveAt('01:00:40');
    expect(await ledger()).toEqual(['01:00 late']);
  });

  test('starts no runs while triggers are paused', async () => {
    await ask({ type: 'PauseTriggers' });
    await serveAt('01:00:00');
    expect(await ledger()).toEqual([]);
    await ask({ type: 'ResumeTriggers' });
    await serveAt('01:00:20');
    expect(await ledger()).toEqual(['01:00 late']);
  });

  test('skips the due times that were not processed before a change or deletion', async () => {
    now = new Date('2026-05-01T02:10:00Z');
    const definition = { ...hourly, cron: '30 * * * *', intervalSeconds: null } as const;
    await ask({ type: 'ChangeSchedule', ...ids, definition: { ...definition, kind: 'cron' } });
    await serveAt('02:30:00');
    now = new Date('2026-05-01T03:30:00Z');
    await ask({ type: 'DeleteSchedule', ...ids });
    await serveAt('05:00:00');
    expect(await ledger()).toEqual([
      '01:00 skipped: schedule_changed',
      '02:00 skipped: schedule_changed',
      '02:30 fired',
      '03:30 skipped: schedule_deleted',
    ]);
  });

  test('has no due times while it is disabled', async () => {
    await ask({ type: 'ChangeSchedule', ...ids, definition: { ...hourly, enabled: false } });
    await serveAt('03:30:00');
    await ask({ type: 'ChangeSchedule', ...ids, definition: hourly });
    await serveAt('04:00:00');
    expect(await ledger()).toEqual(['04:00 fired']);
  });

  test('queues only one run if a scheduler crashes right after queueing it', async () => {
    const dying: Commands = {
      check: (command) => commands.check(command),
      executeAll: (requests) => commands.executeAll(requests),
      execute: async (command, context) => {
        await commands.execute(command, context);
        throw new Error('it died');
      },
    };
    await expect(serveAt('01:00:00', 1, dying)).rejects.toThrow('it died');
    await endAll();
    await serveAt('01:30:00');
    expect(await ledger()).toEqual(['01:00 fired']);
    expect(await runs()).toHaveLength(1);
  });
});

describe('a schedule with missed due times', () => {
  test.each([
    ['none', ['01:00 missed: not_caught_up', '02:00 missed: not_caught_up']],
    ['last', ['01:00 missed: superseded', '02:00 caught_up']],
    ['all', ['01:00 caught_up', '02:00 caught_up']],
  ] as const)(
    'and catch-up set to “%s” records the expected outcomes',
    async (catchUp, expected) => {
      await every({ catchUp, maxLatenessSeconds: 86_400, overlap: 'queue' });
      await serveAt('02:30:00');
      expect(await ledger()).toEqual(expected);
    },
  );
});

describe('a run that is active when the next run is due', () => {
  test('with overlap "queue", delays the next run until a slot is free', async () => {
    await ask({ type: 'ChangeScript', scriptId: scriptId(), settings: { maxConcurrentRuns: 1 } });
    await every({ overlap: 'queue' });
    await serveAt('01:00:00');
    await serveAt('02:00:00');
    expect((await runs()).map((run) => run.waiting)).toEqual([false, true]);
    expect(await ledger()).toEqual(['01:00 fired', '02:00 fired']);
  });

  test('with overlap "queue", delays the next run until the active run finishes, even if a slot is free', async () => {
    await every({ overlap: 'queue' });
    for (const hour of ['01', '02', '03']) await serveAt(`${hour}:00:00`);
    const waiting = async () => (await runs()).map((one) => one.waiting);
    const release = () => releaseWaitingRuns({ reads: platform.reads, commands, ids: systemIds });
    expect(await waiting()).toEqual([false, true, true]);
    await release();
    expect(await waiting()).toEqual([false, true, true]);
    // A queued run that waits for the schedule's previous run does not block this run.
    const manual = mustParse(parseRunId, systemIds.derived(scriptId(), 'manual'));
    await ask(runScript({ runId: manual }));
    await ask({ type: 'StopRun', runId: manual });
    const [first, second] = (await runs())
      .filter((one) => one.trigger_type === 'schedule')
      .map((one) => mustParse(parseRunId, one.run_id));
    for (const [runId, left] of [
      [first, [false, false, true]],
      [second, [false, false, false]],
    ] as const) {
      await ask({ type: 'StartRun', runId: runId!, runtimeId: 'a', layers: [] });
      await ask(finishRun({ runId: runId!, fence: (await fenceOf(runId!)) ?? 0 }));
      await release();
      const scheduled = (await runs()).filter((one) => one.trigger_type === 'schedule');
      expect(scheduled.map((one) => one.waiting)).toEqual(left);
    }
  });

  test('with overlap "cancel_previous", is stopped before the next run is released', async () => {
    await every({ overlap: 'cancel_previous' });
    await serveAt('01:00:00');
    const [first] = (await runs()).map((one) => mustParse(parseRunId, one.run_id));
    await ask({ type: 'StartRun', runId: first!, runtimeId: 'a', layers: [] });
    await serveAt('02:00:00');
    expect(await runs()).toMatchObject([
      { status: 'running', stop_requested: true },
      { status: 'queued', waiting: true },
    ]);
    await ask(finishRun({ runId: first!, outcome: 'stopped', fence: 2 }));
    await releaseWaitingRuns({ reads: platform.reads, commands, ids: systemIds });
    expect(await runs()).toMatchObject([{ status: 'stopped' }, { waiting: false }]);
  });

  test('with overlap "cancel_previous", is not stopped when a delayed scheduler processes an earlier due time', async () => {
    await every({ overlap: 'cancel_previous' });
    const stalled = platform.pipeline({ clock });
    await serveAt('01:00:00');
    await endAll();
    await serveAt('02:00:00');
    const older = await activeRunsOf(
      platform.reads,
      scheduleId(),
      scriptId(),
      '2026-05-01T01:00:00.000Z',
    );
    expect(older).toEqual([]);
    await serveAt('02:00:00', 2, stalled);
    expect((await runs()).map((run) => run.status)).toEqual(['success', 'queued']);
  });

  test('with overlap "cancel_previous", is stopped if it is still queued', async () => {
    await every({ overlap: 'cancel_previous' });
    await serveAt('01:00:00');
    await serveAt('02:00:00');
    await serveAt('02:00:01');
    expect((await runs()).map((run) => run.status)).toEqual(['stopped', 'queued']);
  });
});

test('hundreds of schedules that are due in the same second start one run each', async () => {
  const numbers = Array.from({ length: 600 }, (_, index) => index + 1);
  await Promise.all(
    numbers.map(async (number) => {
      await ask(createScript({ scriptId: scriptId(number + 1) }));
      const made = { scheduleId: scheduleId(number), scriptId: scriptId(number + 1) };
      await ask(createSchedule(made));
    }),
  );
  for (let round = 0; round < 3; round += 1) await serveAt('01:00:00');
  expect(await ledger()).toEqual(numbers.map(() => '01:00 fired'));
  expect(new Set((await runs()).map((run) => run.script_id)).size).toBe(numbers.length);
});
