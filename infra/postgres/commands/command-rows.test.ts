/** Tests rows that are sent in one round trip with their events and the commit. */
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

test('later events of a stream do not recreate a removed row', async () => {
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

  test('records no event and can be executed later', async () => {
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

test('a failed transaction is not reported as committed', async () => {
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
