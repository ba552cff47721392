/** Tests the queue after the database clock was set back by one hour. The times in its rows are then in the future. */
import type { RunId } from '#domain/kernel/ids.ts';
import { defaultSettings } from '#domain/script/settings.ts';
import { runId } from '#domain/testing/ids.ts';
import { createGroup, createScript, runScript } from '#domain/testing/samples.ts';
import { openTestPlatform, type TestPlatform } from '#infra/testing/platform.ts';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { PostgresRunQueue } from '../queue/run-queue.ts';

const ids = [runId(1), runId(2), runId(3), runId(4)] as const;
const [first, second, third, fourth] = ids;

let platform: TestPlatform;
let queue: PostgresRunQueue;
beforeEach(async () => {
  platform = await openTestPlatform();
  queue = new PostgresRunQueue(platform.pool);
  await platform.accepted(createGroup());
  const settings = { ...defaultSettings, maxConcurrentRuns: ids.length };
  await platform.accepted(createScript({ settings }));
  for (const id of ids) await platform.accepted(runScript({ runId: id }));
});
afterEach(() => platform.close());

const claimed = async (limit: number) =>
  (await queue.claim('a', limit, 60)).map((one) => one.runId);

function set(change: string, ...among: readonly RunId[]): Promise<unknown> {
  const statement = `UPDATE run_queue SET ${change} WHERE run_id = ANY($1::uuid[])`;
  return platform.pool.query(statement, [among]);
}

test('runs are claimed in order of acceptance even if the clock is set back', async () => {
  await set("available_at = now() + interval '1 hour'", first, second);
  expect(await claimed(3)).toEqual([first, second, third]);
  expect(await claimed(3)).toEqual([fourth]);
});

describe('a lease granted before the clock was set back', () => {
  const setBack = (...among: readonly RunId[]) =>
    set(
      "leased_at = leased_at + interval '1 hour', lease_until = lease_until + interval '1 hour'",
      ...among,
    );

  /** Returns the remaining seconds of each lease, rounded up to a multiple of ten. */
  async function secondsLeft(): Promise<readonly number[]> {
    const { rows } = await platform.pool.query<{ left: number }>(
      `SELECT ceil(extract(epoch FROM lease_until - now()) / 10)::integer * 10 AS left
        FROM run_queue WHERE lease_until IS NOT NULL ORDER BY run_id`,
    );
    return rows.map((row) => row.left);
  }

  test('restarts with its full duration, so that the owner can renew the lease', async () => {
    await claimed(3);
    await platform.accepted({ type: 'StartRun', runId: first, runtimeId: 'a', layers: [] });
    await queue.release('a', [third], 20);
    await setBack(first, second, third);
    expect(await queue.lost(10)).toEqual([]);
    expect(await secondsLeft()).toEqual([60, 60, 20]);
    expect(await queue.renew('a', [first], 60)).toHaveLength(1);
  });

  test('is unchanged after a renewal, even if the owner runs an older release', async () => {
    await claimed(2);
    await setBack(first, second);
    await queue.renew('a', [first], 30);
    await set("lease_until = now() + interval '30 s'", second);
    await queue.lost(10);
    expect(await secondsLeft()).toEqual([30, 30]);
  });
});
