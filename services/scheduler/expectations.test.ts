import type { Expectation } from '#domain/script/expectations.ts';
import { defaultSettings } from '#domain/script/settings.ts';
import { runId, scriptId } from '#domain/testing/ids.ts';
import { createGroup, createScript, finishRun, runScript } from '#domain/testing/samples.ts';
import { systemIds } from '#infra/system/ids.ts';
import { openTestPlatform, type TestPlatform } from '#infra/testing/platform.ts';
import { missedExpectationsOf } from '#projections/expectations/queries.ts';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { checkExpectations } from './expectations.ts';

let platform: TestPlatform;
let number: number;
beforeEach(async () => {
  platform = await openTestPlatform();
  number = 0;
  await platform.accepted(createGroup());
});
afterEach(() => platform.close());

const daily: Expectation = { kind: 'success_within', seconds: 86_400 };

async function expectFrom(...expectations: readonly Expectation[]): Promise<void> {
  await platform.accepted(
    createScript({ settings: { ...defaultSettings, maxConcurrentRuns: 99, expectations } }),
  );
}

/** Runs one check some minutes after the start of 2026, the time of all recorded events. */
function check(inMinutes: number): Promise<void> {
  const { reads, commands } = platform;
  const clock = { now: () => new Date(Date.UTC(2026, 0, 1, 0, inMinutes)) };
  return checkExpectations({ reads, commands, ids: systemIds, clock });
}

async function started() {
  number += 1;
  const id = runId(number);
  await platform.accepted(runScript({ runId: id }));
  await platform.accepted({ type: 'StartRun', runId: id, runtimeId: 'a', layers: [] });
  return id;
}

async function succeeded(): Promise<void> {
  await platform.accepted(finishRun({ runId: await started(), outcome: 'success' }));
}

const missed = async () =>
  (await missedExpectationsOf(platform.reads, scriptId())).map(({ on, runId: run }) => [on, run]);

/** Returns the types of the recorded events, oldest first. */
async function recorded(): Promise<readonly string[]> {
  const { rows } = await platform.pool.query<{ type: string }>(
    `SELECT type FROM events WHERE stream_id = 'expectation-' || $1 ORDER BY version`,
    [scriptId()],
  );
  return rows.map(({ type }) => type);
}

describe('a script without a recent success', () => {
  test('is reported as stale once, even with several schedulers, until a run succeeds', async () => {
    await expectFrom(daily);
    await check(60);
    expect(await missed()).toEqual([]);
    await Promise.all([check(1500), check(1500), check(1500)]);
    await check(1600);
    expect(await missed()).toEqual([['script_stale', null]]);
    await succeeded();
    await Promise.all([check(60), check(60)]);
    expect(await missed()).toEqual([]);
    expect(await recorded()).toEqual(['ExpectationMissed', 'ExpectationCleared']);
  });

  test.each([
    ['it is disabled', { type: 'DisableScript', scriptId: scriptId() }],
    ['it is deleted', { type: 'DeleteScript', scriptId: scriptId() }],
    [
      'the expectation is removed',
      { type: 'ChangeScript', scriptId: scriptId(), settings: { expectations: [] } },
    ],
  ] as const)('is no longer stale when %s', async (_when, command) => {
    await expectFrom(daily);
    await check(1500);
    await platform.accepted(command);
    await check(1500);
    expect(await missed()).toEqual([]);
  });

  test('gets the full period again after it was disabled and enabled', async () => {
    await expectFrom(daily);
    await platform.pool.query(
      `UPDATE scripts SET expectations_since = expectations_since - interval '2 days'`,
    );
    await platform.accepted({ type: 'DisableScript', scriptId: scriptId() });
    await platform.accepted({ type: 'EnableScript', scriptId: scriptId() });
    await check(60);
    expect(await missed()).toEqual([]);
  });
});

describe('a run that takes longer than usual', () => {
  test('is reported until it finishes, but only if five earlier runs have succeeded', async () => {
    await expectFrom({ kind: 'longer_than', factor: 3 });
    for (let count = 0; count < 4; count += 1) await succeeded();
    const long = await started();
    await check(60);
    expect(await missed()).toEqual([]);
    await succeeded();
    await check(60);
    expect(await missed()).toEqual([['run_too_long', long]]);
    await platform.accepted(finishRun({ runId: long, outcome: 'exit_code', exitCode: 1 }));
    await check(60);
    expect(await missed()).toEqual([]);
  });
});

test('a successful run meets the deadline regardless of its trigger', async () => {
  await expectFrom({ kind: 'finish_by', cron: '* * * * *', timezone: 'UTC' });
  await check(5);
  expect(await missed()).toEqual([['run_late', null]]);
  await succeeded();
  await check(1);
  expect(await missed()).toEqual([]);
});
