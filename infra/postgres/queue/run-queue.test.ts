// Long because the tests of all queue operations share the helpers in this file.
import type { RunId } from '#domain/kernel/ids.ts';
import { defaultSettings } from '#domain/script/settings.ts';
import { finishRun, createGroup, createScript, runScript } from '#domain/testing/samples.ts';
import { runId, scriptId } from '#domain/testing/ids.ts';
import { openTestPlatform, userContext, type TestPlatform } from '#infra/testing/platform.ts';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { inTransaction, openDatabase } from '../database.ts';
import { PostgresRunQueue } from './run-queue.ts';

let platform: TestPlatform;
let queue: PostgresRunQueue;
beforeAll(async () => {
  platform = await openTestPlatform();
  queue = new PostgresRunQueue(platform.pool);
  await platform.accepted(createGroup());
  const settings = { ...defaultSettings, maxConcurrentRuns: 1000 };
  await platform.accepted(createScript({ settings }));
});
afterAll(() => platform.close());

// Each test has its own runs, and a queue with only these runs.
let first = 0;
beforeEach(async () => {
  first += 100;
  await platform.pool.query('DELETE FROM run_queue');
});
const run = (number: number) => runId(first + number);

async function queued(count: number): Promise<readonly RunId[]> {
  const ids = Array.from({ length: count }, (_, index) => run(index));
  for (const id of ids) await platform.accepted(runScript({ runId: id }));
  return ids;
}

async function start(id: RunId, runtimeId: string): Promise<void> {
  await platform.accepted({ type: 'StartRun', runId: id, runtimeId, layers: [] });
}

async function claimed(owner: string, limit = 100): Promise<readonly RunId[]> {
  return (await queue.claim(owner, limit, 60)).map((one) => one.runId);
}

/** Makes the leases of runs expire. */
async function expire(...ids: readonly RunId[]): Promise<void> {
  await platform.pool.query(
    `UPDATE run_queue SET lease_until = now() - interval '1 millisecond'
      WHERE run_id = ANY($1::uuid[])`,
    [ids],
  );
}

function set(id: RunId, change: string): Promise<unknown> {
  return platform.pool.query(`UPDATE run_queue SET ${change} WHERE run_id = $1`, [id]);
}

describe('a claim', () => {
  test('returns everything that a runtime needs', async () => {
    const params = { runId: run(0), paramsSha256: 'a'.repeat(64), timeoutSeconds: 7 };
    const context = userContext();
    await platform.accepted(runScript(params), context);
    expect(await queue.claim('a', 1, 60)).toEqual([
      {
        runId: run(0),
        scriptId: scriptId(),
        scriptVersion: 1,
        entrypoint: 'main.py',
        limits: { ...defaultSettings.limits, wall_clock_seconds: 7 },
        environment: {},
        python: null,
        startMode: 'warm',
        resident: defaultSettings.resident,
        mergeStderr: false,
        listenPorts: [],
        resolution: null,
        storageQuotaBytes: defaultSettings.storageQuotaBytes,
        triggerType: 'manual',
        paramsSha256: params.paramsSha256,
        payloadSha256: null,
        hasSecrets: false,
        attempt: 1,
        correlationId: context.correlationId,
        commandId: context.commandId,
        queuedAt: expect.any(Date),
        scriptName: 'Report',
      },
    ]);
  });

  test('returns the oldest runs first, up to the requested number', async () => {
    const ids = await queued(5);
    expect(await claimed('a', 2)).toEqual(ids.slice(0, 2));
    expect(await claimed('b', 2)).toEqual(ids.slice(2, 4));
    expect(await claimed('a', 2)).toEqual(ids.slice(4));
    expect(await claimed('b', 2)).toEqual([]);
  });

  test('returns runs with a higher priority before older runs', async () => {
    const ids = await queued(30);
    const priority = (index: number) => (index * 7) % 5;
    for (const [index, id] of ids.entries()) await set(id, `priority = ${priority(index)}`);
    const expected = [...ids.keys()]
      .toSorted((one, other) => priority(other) - priority(one) || one - other)
      .map((index) => ids[index]);
    expect(await claimed('a', 12)).toEqual(expected.slice(0, 12));
    expect(await claimed('a')).toEqual(expected.slice(12));
  });

  test('returns runs in the same order with every query plan', async () => {
    const ids = await queued(20);
    for (const id of ids.slice(10)) await set(id, 'priority = 1');
    const order = await inTransaction(platform.pool, async (client) => {
      await client.query('SET LOCAL enable_nestloop = off');
      return await new PostgresRunQueue(client).claim('a', 20, 60);
    });
    expect(order.map((one) => one.runId)).toEqual([...ids.slice(10), ...ids.slice(0, 10)]);
  });

  test('returns every claimed run, even if its script is missing', async () => {
    const ids = await queued(2);
    const found = await inTransaction(platform.pool, async (client) => {
      await client.query('UPDATE run_queue SET script_id = $2 WHERE run_id = $1', [
        ids[0],
        scriptId(99),
      ]);
      return await new PostgresRunQueue(client).claim('a', 2, 60);
    });
    const { storageQuotaBytes } = defaultSettings;
    expect(found).toMatchObject([
      { runId: ids[0], scriptId: scriptId(99), storageQuotaBytes },
      { runId: ids[1], scriptId: scriptId(), storageQuotaBytes },
    ]);
  });

  test('skips waiting and delayed runs', async () => {
    const [later, now] = await queued(2);
    await set(later!, 'waiting = true');
    expect(await claimed('a')).toEqual([now]);
  });

  test('gives each run to only one of many concurrent claims', async () => {
    const ids = await queued(30);
    const owners = Array.from({ length: 10 }, (_, index) => `runtime-${index}`);
    const parts = await Promise.all(owners.map((owner) => claimed(owner, 4)));
    const rest = await claimed('last');
    expect([...parts.flat(), ...rest].toSorted()).toEqual(ids.toSorted());
  });

  test('skips a run that another claim has locked', async () => {
    const [held, free] = await queued(2);
    await inTransaction(platform.pool, async (client) => {
      await new PostgresRunQueue(client).claim('a', 1, 60);
      expect(await claimed('b')).toEqual([free]);
    });
    const { rows } = await platform.pool.query('SELECT owner FROM run_queue WHERE run_id = $1', [
      held,
    ]);
    expect(rows).toEqual([{ owner: 'a' }]);
  });

  test('returns a run again if its lease expired before the run started', async () => {
    const ids = await queued(2);
    await claimed('a');
    await expire(ids[0]!);
    expect(await claimed('b')).toEqual([ids[0]]);
  });

  test('skips started runs, regardless of their lease', async () => {
    const ids = await queued(1);
    await claimed('a');
    await start(ids[0]!, 'a');
    await expire(...ids);
    expect(await claimed('b')).toEqual([]);
  });

  test('skips finished runs', async () => {
    const ids = await queued(2);
    await platform.accepted({ type: 'StopRun', runId: ids[0]! });
    expect(await claimed('a')).toEqual([ids[1]]);
  });

  test('commits without waiting for the disk, unlike all other statements', async () => {
    const [id] = await queued(1);
    const waitsWhile = async (work: (its: PostgresRunQueue) => Promise<unknown>) =>
      await inTransaction(platform.pool, async (client) => {
        await client.query('SET LOCAL synchronous_commit = on');
        await work(new PostgresRunQueue(client));
        const { rows } = await client.query('SHOW synchronous_commit');
        return rows;
      });
    const off = [{ synchronous_commit: 'off' }];
    const on = [{ synchronous_commit: 'on' }];
    expect(await waitsWhile((its) => its.claim('a', 1, 60))).toEqual(off);
    expect(await waitsWhile((its) => its.renew('a', [id!], 60))).toEqual(on);
    const { pool, close } = openDatabase(platform.serviceUrl, {
      connections: 1,
      applicationName: 'test',
      onIdleError: () => undefined,
    });
    await pool.query('SET synchronous_commit = on');
    await new PostgresRunQueue(pool).release('a', [id!]);
    expect(await new PostgresRunQueue(pool).claim('b', 1, 60)).toHaveLength(1);
    const { rows } = await pool.query('SHOW synchronous_commit');
    await close();
    expect(rows).toEqual(on);
  });
});

describe('a renewal', () => {
  test('extends the runtime’s own leases, and reports lost leases', async () => {
    const [kept, expired, taken, stopped, strange] = await queued(5);
    await claimed('a', 4);
    await expire(expired!, taken!);
    expect(await claimed('b')).toEqual([expired, taken, strange]);
    await expire(expired!);
    await platform.accepted({ type: 'StopRun', runId: stopped! });
    const ids = [kept!, expired!, taken!, stopped!, strange!, run(99)];
    expect(await queue.renew('a', ids, 60)).toEqual([{ runId: kept, stopRequested: false }]);
  });

  test('extends a lease relative to the current time', async () => {
    const ids = await queued(1);
    await queue.claim('a', 1, 5);
    await queue.renew('a', ids, 3600);
    const { rows } = await platform.pool.query<{ long: boolean }>(
      "SELECT lease_until > now() + interval '30 minutes' AS long FROM run_queue",
    );
    expect(rows).toEqual([{ long: true }]);
  });

  test('does not extend an expired lease', async () => {
    const ids = await queued(1);
    await claimed('a');
    await start(ids[0]!, 'a');
    await expire(...ids);
    expect(await queue.renew('a', ids, 60)).toEqual([]);
  });

  test('reports requested stops', async () => {
    const ids = await queued(2);
    await claimed('a');
    for (const id of ids) await start(id, 'a');
    await platform.accepted({ type: 'StopRun', runId: ids[1]! });
    const leases = await queue.renew('a', ids, 60);
    expect(leases.toSorted((one, other) => (one.runId < other.runId ? -1 : 1))).toEqual([
      { runId: ids[0], stopRequested: false },
      { runId: ids[1], stopRequested: true },
    ]);
  });
});

describe('a release', () => {
  test('lets another runtime claim the run immediately', async () => {
    const ids = await queued(2);
    await claimed('a');
    await queue.release('a', [ids[0]!]);
    expect(await claimed('b')).toEqual([ids[0]]);
  });

  test('with a delay lets another runtime claim the run after the delay', async () => {
    const [delayed, later] = await queued(2);
    await claimed('a');
    await queue.release('a', [delayed!, later!], 60);
    expect(await claimed('b')).toEqual([]);
    await expire(delayed!, later!);
    expect(await claimed('b')).toEqual([delayed, later]);
  });

  test('with a delay does not keep the run from expiring', async () => {
    const [id] = await queued(1);
    const [run] = await queue.claim('a', 10, 60);
    await set(id!, "expires_at = now() - interval '1 s'");
    expect(await queue.expired(10)).toEqual([]);
    await queue.release('a', [id!], 60);
    expect(await queue.expired(10)).toEqual([
      { runId: id, scriptId: scriptId(), correlationId: run?.correlationId },
    ]);
  });

  test('does not affect started runs or runs of other runtimes', async () => {
    const [started, foreign] = await queued(2);
    await claimed('a', 1);
    await claimed('b', 1);
    await start(started!, 'a');
    await queue.release('a', [started!, foreign!]);
    expect(await claimed('c')).toEqual([]);
    expect(await queue.renew('a', [started!], 60)).toHaveLength(1);
    expect(await queue.renew('b', [foreign!], 60)).toHaveLength(1);
  });
});

describe('the list of lost runs', () => {
  test('contains started runs with expired leases, with the size of their logs', async () => {
    const [lost, alive, waiting, ended] = await queued(4);
    const [run] = await queue.claim('a', 10, 60);
    for (const id of [lost!, alive!, ended!]) await start(id, 'a');
    await expire(lost!, waiting!, ended!);
    await platform.accepted(finishRun({ runId: ended! }));
    await platform.pool.query(
      `INSERT INTO run_log_chunks (run_id, first_seq, last_seq, bytes, items)
        VALUES ($1, 1, 2, 30, '[]'), ($1, 3, 7, 12, '[]')`,
      [lost],
    );
    const { correlationId, scriptName } = run!;
    expect(await queue.lost(10)).toEqual([
      {
        runId: lost,
        scriptId: scriptId(),
        correlationId,
        scriptName,
        fence: 2,
        logLines: 7,
        logBytes: 42,
      },
    ]);
  });

  test('is read in batches, and omits finished runs', async () => {
    const ids = await queued(3);
    await claimed('a');
    for (const id of ids) await start(id, 'a');
    await expire(...ids);
    expect(await queue.lost(2)).toMatchObject([{ runId: ids[0] }, { runId: ids[1], logLines: 0 }]);
    for (const { runId: id, fence } of await queue.lost(10)) {
      await platform.accepted(finishRun({ runId: id, fence, outcome: 'runtime_lost' }));
    }
    expect(await queue.lost(10)).toEqual([]);
  });
});
