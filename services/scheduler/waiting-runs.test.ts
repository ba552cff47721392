import { defaultLimits, defaultSettings } from '#domain/script/settings.ts';
import { runId, scriptId } from '#domain/testing/ids.ts';
import { createGroup, createScript, finishRun, runScript } from '#domain/testing/samples.ts';
import { PostgresRunQueue } from '#infra/postgres/queue/run-queue.ts';
import { systemIds } from '#infra/system/ids.ts';
import { openTestPlatform, userContext, type TestPlatform } from '#infra/testing/platform.ts';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { endExpiredRuns, releaseWaitingRuns, type WaitingRunsDeps } from './waiting-runs.ts';

let platform: TestPlatform;
let deps: WaitingRunsDeps;
const settings = { ...defaultSettings, maxConcurrentRuns: 2 };
beforeEach(async () => {
  platform = await openTestPlatform();
  const { pool, reads, commands } = platform;
  deps = { reads, queue: new PostgresRunQueue(pool), commands, ids: systemIds };
  await platform.accepted(createGroup());
  await platform.accepted(createScript({ settings }));
});
afterEach(() => platform.close());

const queue = (number: number) => runScript({ runId: runId(number), whenBusy: 'queue' });

/** Claims all available runs. @returns their IDs in the order of the queue */
async function claimed(): Promise<readonly string[]> {
  return (await deps.queue.claim('a', 100, 60)).map((run) => run.runId);
}

async function complete(id: string): Promise<void> {
  const own = { runId: runId(Number.parseInt(id.slice(-12), 16)) };
  const [started] = await platform.accepted({
    type: 'StartRun',
    ...own,
    runtimeId: 'a',
    layers: [],
  });
  await platform.accepted(finishRun({ ...own, fence: started!.version }));
}

async function statuses(): Promise<readonly string[]> {
  const rows = await platform.reads.selectFrom('runs').selectAll().orderBy('run_id').execute();
  return rows.map((row) => (row.waiting ? 'waiting' : (row.failure_reason ?? row.status)));
}

describe('a script with a concurrency limit of 2', () => {
  test('starts 30 requested runs in order, with at most 2 at a time', async () => {
    const ids = Array.from({ length: 30 }, (_, index) => index + 1);
    for (const number of ids) await platform.accepted(queue(number));
    const order: string[] = [];
    let mine = await claimed();
    while (mine.length > 0) {
      expect(mine.length).toBeLessThanOrEqual(2);
      order.push(...mine);
      for (const id of mine) await complete(id);
      // Two concurrent schedulers must not assign a slot twice.
      await Promise.all([releaseWaitingRuns(deps), releaseWaitingRuns(deps)]);
      mine = await claimed();
    }
    expect(order).toEqual(ids.map((number) => runId(number)));
    expect(new Set(await statuses())).toEqual(new Set(['success']));
  });

  test('starts waiting runs in order even if the clock is set back, but does not start delayed runs', async () => {
    for (const number of [1, 2, 3, 4, 5]) await platform.accepted(queue(number));
    const setBack = `UPDATE run_queue SET available_at = available_at + interval '1 hour'`;
    await platform.pool.query(setBack);
    const notBefore = new Date(Date.now() + 3_600_000).toISOString();
    await platform.accepted({ ...queue(6), notBefore });
    await platform.accepted(queue(7));
    for (const expected of [[1, 2], [3, 4], [5, 7], []]) {
      const mine = await claimed();
      expect(mine).toEqual(expected.map((number) => runId(number)));
      for (const id of mine) await complete(id);
      await releaseWaitingRuns(deps);
    }
    await platform.pool.query(`UPDATE run_queue SET available_at = now()`);
    await releaseWaitingRuns(deps);
    expect(await claimed()).toEqual([runId(6)]);
  });

  test('holds back concurrent requests over the limit', async () => {
    const asked = Array.from({ length: 30 }, (_, index) =>
      platform.commands.execute(queue(index + 1), userContext()),
    );
    expect(new Set((await Promise.all(asked)).map((one) => one.kind))).toEqual(
      new Set(['accepted']),
    );
    await releaseWaitingRuns(deps);
    expect((await statuses()).filter((one) => one === 'waiting')).toHaveLength(28);
    expect(await claimed()).toHaveLength(2);
  });

  test('starts more runs after its limit is raised', async () => {
    for (const number of [1, 2, 3, 4, 5]) await platform.accepted(queue(number));
    const more = { maxConcurrentRuns: 4 };
    await platform.accepted({ type: 'ChangeScript', scriptId: scriptId(), settings: more });
    await releaseWaitingRuns(deps);
    expect(await statuses()).toEqual(['queued', 'queued', 'queued', 'queued', 'waiting']);
  });

  test('holds retries while triggers are paused, but starts other runs', async () => {
    const trigger = { type: 'retry', runId: runId(9) } as const;
    const notBefore = new Date(0).toISOString();
    await platform.accepted({ type: 'PauseTriggers' });
    await platform.accepted({ ...queue(1), trigger, notBefore });
    await platform.accepted(runScript({ runId: runId(2) }));
    await releaseWaitingRuns(deps);
    expect(await statuses()).toEqual(['waiting', 'queued']);
    await platform.accepted({ type: 'ResumeTriggers' });
    await releaseWaitingRuns(deps);
    expect(await statuses()).toEqual(['queued', 'queued']);
  });

  test('starts other runs while one run is delayed', async () => {
    const notBefore = new Date(Date.now() + 3_600_000).toISOString();
    await platform.accepted({ ...queue(1), notBefore });
    for (const number of [2, 3, 4]) await platform.accepted(queue(number));
    await releaseWaitingRuns(deps);
    expect(await statuses()).toEqual(['waiting', 'queued', 'queued', 'waiting']);
  });
});

describe('a script with a limited queue time', () => {
  beforeEach(async () => {
    // The run was queued in the past, so a limit of one second has already passed, but a limit of a century has not.
    const limits = { ...defaultLimits, queue_seconds: 1 };
    await platform.accepted({ type: 'ChangeScript', scriptId: scriptId(), settings: { limits } });
  });

  test('has its queued runs expire after the time limit, but not its active runs', async () => {
    for (const number of [1, 2, 3]) await platform.accepted(queue(number));
    await platform.accepted({ type: 'StartRun', runId: runId(1), runtimeId: 'a', layers: [] });
    await endExpiredRuns(deps);
    expect(await statuses()).toEqual(['running', 'expired', 'expired']);
  });

  test('keeps a run that a runtime is preparing', async () => {
    await platform.accepted(queue(1));
    await claimed();
    await endExpiredRuns(deps);
    expect(await statuses()).toEqual(['queued']);
  });

  test('keeps all queued runs after the limit is removed', async () => {
    const limits = { ...defaultLimits, queue_seconds: null };
    await platform.accepted({ type: 'ChangeScript', scriptId: scriptId(), settings: { limits } });
    await platform.accepted(queue(1));
    await endExpiredRuns(deps);
    expect(await statuses()).toEqual(['queued']);
  });
});
