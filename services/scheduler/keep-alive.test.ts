import type { Clock } from '#domain/ports/clock.ts';
import { defaultSettings } from '#domain/script/settings.ts';
import { scriptId } from '#domain/testing/ids.ts';
import { createGroup, createScript, finishRun } from '#domain/testing/samples.ts';
import { mustParse, parseRunId } from '#domain/kernel/ids.ts';
import { systemIds } from '#infra/system/ids.ts';
import { openTestPlatform, type TestPlatform } from '#infra/testing/platform.ts';
import type { IdleScript } from '#projections/scripts/kept-alive.ts';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { dueAtMs, keepBotsAlive } from './keep-alive.ts';

let platform: TestPlatform;
beforeEach(async () => {
  platform = await openTestPlatform();
  await platform.accepted(createGroup());
  const settings = { ...defaultSettings, keepAlive: true, maxConcurrentRuns: 5 };
  await platform.accepted(createScript({ settings }));
});
afterEach(() => platform.close());

const id = { scriptId: scriptId() };
const later: Clock = { now: () => new Date() };
const never: Clock = { now: () => new Date(0) };

/** Runs one round with a clock that is later than all recorded events. */
function keep(clock = later): Promise<void> {
  const { reads, commands } = platform;
  return keepBotsAlive({ reads, commands, ids: systemIds, clock });
}

async function runs() {
  return await platform.reads.selectFrom('runs').selectAll().orderBy('run_id').execute();
}

async function endLast(outcome: 'success' | 'stopped' | 'exit_code' = 'exit_code') {
  const runId = mustParse(parseRunId, (await runs()).at(-1)!.run_id);
  await platform.accepted({ type: 'StartRun', runId, runtimeId: 'a', layers: [] });
  await platform.accepted(finishRun({ runId, outcome }));
}

describe('a bot', () => {
  test('has only one run, even with several schedulers', async () => {
    await Promise.all([keep(), keep(), keep()]);
    await keep();
    expect(await runs()).toMatchObject([
      { trigger: { type: 'event', cause: 'keep_alive' }, status: 'queued', waiting: false },
    ]);
  });

  test.each(['success', 'stopped', 'exit_code'] as const)(
    'gets one new run after its run ends with the outcome %s',
    async (outcome) => {
      await keep();
      await endLast(outcome);
      await Promise.all([keep(), keep()]);
      expect((await runs()).map((run) => run.finished_at !== null)).toEqual([true, false]);
    },
  );

  test('gets no run during the pause after a run', async () => {
    await keep();
    await endLast();
    await keep(never);
    expect(await runs()).toHaveLength(1);
  });

  test('gets no run while it is disabled', async () => {
    await keep();
    await platform.accepted({ type: 'DisableScript', ...id });
    await endLast();
    await keep();
    expect(await runs()).toHaveLength(1);
    await platform.accepted({ type: 'EnableScript', ...id });
    await keep();
    expect(await runs()).toHaveLength(2);
  });

  test('gets no run while triggers are paused', async () => {
    await platform.accepted({ type: 'PauseTriggers' });
    await keep();
    expect(await runs()).toEqual([]);
    await platform.accepted({ type: 'ResumeTriggers' });
    await keep();
    expect(await runs()).toHaveLength(1);
  });

  test('gets no run after keep-alive is turned off or the bot is deleted', async () => {
    await platform.accepted({ type: 'ChangeScript', ...id, settings: { keepAlive: false } });
    await keep();
    await platform.accepted({ type: 'ChangeScript', ...id, settings: { keepAlive: true } });
    await platform.accepted({ type: 'DeleteScript', ...id });
    await keep();
    expect(await runs()).toEqual([]);
  });
});

describe('the pause before a restart of a bot', () => {
  const ended = (durationMs: number | null, version = 2) => ({
    run_id: 'any',
    script_version: version,
    finished_at: '2026-01-01T00:00:00.000Z',
    duration_ms: durationMs,
  });
  const pauseOf = (...last_runs: IdleScript['last_runs']) =>
    dueAtMs({ script_id: 'any', version: 2, updated_at: new Date(0), last_runs }) -
    Date.UTC(2026, 0, 1);

  test('is short after a long run, and doubles with each short run', () => {
    expect(pauseOf(ended(60_000))).toBe(1_000);
    expect(pauseOf(ended(5))).toBe(1_000);
    expect(pauseOf(ended(5), ended(null))).toBe(2_000);
    expect(pauseOf(ended(5), ended(5), ended(5), ended(60_000), ended(5))).toBe(4_000);
    expect(pauseOf(...Array.from({ length: 10 }, () => ended(5)))).toBe(300_000);
  });

  test('ends when a new version of the bot is saved', () => {
    expect(pauseOf(ended(5, 1), ended(5, 1))).toBeLessThan(0);
    expect(pauseOf(ended(5), ended(5, 1), ended(5, 1))).toBe(1_000);
  });
});
