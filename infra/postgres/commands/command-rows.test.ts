/** Rows that leave in one flight with their events and the commit. */
import { runId, scriptId } from '#domain/testing/ids.ts';
import { createGroup, createScript, finishRun, runScript } from '#domain/testing/samples.ts';
import { openTestPlatform, userContext, type TestPlatform } from '#infra/testing/platform.ts';
import type { Projection } from '#projections/projection.ts';
import { inlineProjections } from '#projections/registry.ts';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { commit, inTransactionByKeys, openDatabase } from '../database.ts';

let platform: TestPlatform;
beforeAll(async () => {
  platform = await openTestPlatform();
  await platform.accepted(createGroup());
});
afterAll(() => platform.close());

let number = 0;
const run = () => runScript({ scriptId: scriptId(number), runId: runId(number) });
const start = () =>
  ({ type: 'StartRun', runId: runId(number), runtimeId: 'a', layers: [] }) as const;
beforeEach(async () => {
  number += 1;
  await platform.accepted(createScript({ scriptId: scriptId(number) }));
});

async function runRow() {
  const { rows } = await platform.pool.query<{ status: string }>(
    'SELECT status FROM runs WHERE run_id = $1',
    [runId(number)],
  );
  return rows[0]?.status;
}

async function version(): Promise<number | undefined> {
  const { rows } = await platform.pool.query<{ version: number }>(
    'SELECT version FROM streams WHERE stream_id = $1',
    [`run-${runId(number)}`],
  );
  return rows[0]?.version;
}

test('a removed row is not created again by later events of its stream', async () => {
  await platform.accepted(run());
  await platform.pool.query('DELETE FROM runs WHERE run_id = $1', [runId(number)]);
  await platform.accepted(start());
  expect([await version(), await runRow()]).toEqual([2, undefined]);
});

describe('a command whose row cannot be written', () => {
  const failing: Projection = {
    name: 'failing',
    version: 1,
    handles: ['RunStarted'],
    tables: [],
    apply: () => Promise.reject(new Error('not asked')),
    writes: () => [{ text: 'SELECT 1 / $1::int', values: ['0'] }],
  };

  test('does not record its event either, and can be executed later', async () => {
    await platform.accepted(run());
    platform.announced.length = 0;
    const pipeline = platform.pipeline({ projections: [failing, ...inlineProjections] });
    await expect(pipeline.execute(start(), userContext())).rejects.toMatchObject({ code: '22012' });
    expect([await version(), await runRow()]).toEqual([1, 'queued']);
    expect(platform.announced).toEqual([]);
    await platform.accepted(start());
    expect([await version(), await runRow()]).toEqual([2, 'running']);
  });
});

describe('the notification statement of a command', () => {
  const telling = async (text: string) => {
    const told: Promise<unknown>[] = [];
    const pipeline = platform.pipeline({
      tell: ([event]) => ({ text, values: [event?.eventId ?? ''] }),
      announce: (_, how) => told.push(...(how === undefined ? [] : [how])),
    });
    const outcome = await pipeline.execute(run(), userContext());
    return { outcome, told: await Promise.allSettled(told) };
  };

  test('is executed after the command is committed', async () => {
    const found = 'SELECT 1 / count(*) FROM events WHERE event_id = $1::uuid';
    const { told } = await telling(found);
    expect(told).toMatchObject([{ status: 'fulfilled', value: { rowCount: 1 } }]);
  });

  test('may fail: the command is executed, and `announce` learns of the failure', async () => {
    const { outcome, told } = await telling('SELECT 1 / length($1) - length($1) / 0');
    expect(outcome).toMatchObject({ kind: 'accepted' });
    expect(told).toMatchObject([{ status: 'rejected', reason: { code: '22012' } }]);
  });
});

test('does not report a failed transaction as committed', async () => {
  const work = inTransactionByKeys(platform.pool, async (client) => {
    await client.query('SELECT 1 / $1::int', ['0']).catch(() => undefined);
    await commit(client);
  });
  await expect(work).rejects.toThrow('rolled back');
});

test('the statements of commands are planned once per connection', async () => {
  const { pool, close } = openDatabase(platform.serviceUrl, {
    connections: 1,
    applicationName: 'test',
    onIdleError: () => undefined,
  });
  const pipeline = platform.pipeline({ pool });
  const commands = [run(), start(), finishRun({ runId: runId(number) })];
  for (const command of commands) await pipeline.execute(command, userContext());
  const { rows } = await pool.query(
    'SELECT statement FROM pg_prepared_statements WHERE custom_plans > 0',
  );
  await close();
  expect(rows).toEqual([]);
});
