import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { scriptId } from '#domain/testing/ids.ts';
import { complete, jobOf, jobs, popped, push } from './testing/jobs.ts';
import type { RawClient, Value } from './testing/raw-client.ts';
import { startTestAdapter, type TestAdapter } from './testing/test-adapter.ts';

let adapter: TestAdapter;
let client: RawClient;
beforeAll(async () => {
  adapter = await startTestAdapter();
});
afterEach(() => adapter.clear());
afterAll(() => adapter.close());

async function transaction(...commands: readonly (readonly string[])[]): Promise<Value> {
  client = await adapter.member();
  expect(await client.call('MULTI')).toBe('OK');
  for (const words of commands) expect(await client.call(...words)).toBe('QUEUED');
  return await client.call('EXEC');
}

const job = JSON.stringify({ script_id: scriptId() });

describe('a transaction', () => {
  test('pushes and pops jobs, which are leased to its client', async () => {
    const replies = await transaction(
      ['LPUSH', jobs, job],
      ['LPUSH', jobs, job],
      ['LLEN', jobs],
      ['BRPOP', jobs, '0'],
      ['LMPOP', '1', jobs, 'LEFT', 'COUNT', '5'],
      ['BRPOP', jobs, '0'],
    );
    const [first, second, length, one, others, none] = replies as readonly Value[];
    expect([first, second, length, none]).toEqual([1, 2, 2, null]);
    const [, text = null] = one as readonly Value[];
    const [key, [other = null]] = others as [Value, readonly Value[]];
    expect(key).toBe(jobs);
    for (const popped of [jobOf(text), jobOf(other)]) {
      expect(await client.call('EXPIRE', `runs:${popped.run_id}:lease`, '60')).toBe(1);
      expect(await complete(client, popped.run_id)).toBe(0);
    }
  });

  test('executes its other commands even if one command fails', async () => {
    const replies = await transaction(['LPUSH', jobs, '{}'], ['LPUSH', jobs, job], ['LLEN', jobs]);
    expect(replies).toEqual([expect.stringContaining('"script_id" is required'), 1, 1]);
  });

  test('executes nothing if one of its commands was refused before EXEC', async () => {
    client = await adapter.member();
    await client.call('MULTI');
    expect(await client.call('LPUSH', jobs, job)).toBe('QUEUED');
    expect(await client.call('GET', 'x')).toMatch(/^-ERR unknown command/);
    expect(await client.call('EXEC')).toMatch(/^-EXECABORT/);
    expect(await client.call('LLEN', jobs)).toBe(0);
  });

  test('refuses commands for which the token is insufficient', async () => {
    const token = await adapter.token(['runs:read']);
    client = await adapter.openUnauthenticated();
    await client.call('AUTH', token);
    await client.call('MULTI');
    expect(await client.call('LPUSH', jobs, job)).toMatch(/^-NOPERM/);
    expect(await client.call('EXEC')).toMatch(/^-EXECABORT/);
  });

  test.each([
    ['AUTH', 'x'],
    ['HELLO', '3'],
    ['SUBSCRIBE', 'script.updated'],
  ])('refuses %s, and stays in sync', async (...words) => {
    client = await adapter.member();
    await client.call('MULTI');
    expect(await client.call(...words)).toBe('-ERR Command not allowed inside a transaction');
    expect(await client.call('EXEC')).toMatch(/^-EXECABORT/);
    expect(await client.call('ECHO', 'in sync')).toBe('in sync');
  });

  test('has a maximum number of commands', async () => {
    client = await adapter.member();
    await client.call('MULTI');
    for (let left = 1024; left > 0; left -= 1) await client.call('PING');
    expect(await client.call('PING')).toMatch(
      /^-ERR a transaction may contain at most 1024 commands/,
    );
    expect(await client.call('EXEC')).toMatch(/^-EXECABORT/);
  });

  test('returns its jobs to the queue if the client disconnects before reading them', async () => {
    const other = await adapter.member();
    await push(other, {});
    client = await adapter.member();
    client.send('MULTI\r\nRPOP runtime:jobs\r\nEXEC\r\n');
    client.close();
    // The job was never claimed, or it has returned to the queue. In both cases, it can be claimed again.
    expect(await popped(other, '0')).toMatchObject({ params: {} });
  });

  test('refuses WATCH with an explanation', async () => {
    client = await adapter.member();
    expect(await client.call('WATCH', jobs)).toBe(
      '-ERR WATCH is not supported. Use MULTI and EXEC without WATCH.',
    );
  });
});

test('LMPOP and BLMPOP pop several jobs, but RPOPLPUSH and BRPOPLPUSH only one', async () => {
  client = await adapter.member();
  for (let left = 5; left > 0; left -= 1) await push(client, {});
  const [, some] = (await client.call('BLMPOP', '1', '1', jobs, 'LEFT', 'COUNT', '3')) as [
    Value,
    Value,
  ];
  expect(some).toHaveLength(3);
  expect(jobOf(await client.call('RPOPLPUSH', jobs, 'mine')).job_id).toBeTypeOf('string');
  expect(jobOf(await client.call('BRPOPLPUSH', jobs, 'mine', '1')).job_id).toBeTypeOf('string');
  expect(await client.call('LMPOP', '1', jobs, 'LEFT')).toBe(null);
});

test('XREVRANGE reads the log of a run from its end, and XINFO describes the log', async () => {
  client = await adapter.member();
  await push(client, {});
  const { run_id: runId } = await popped(client);
  const logs = `runs:${runId}:logs`;
  for (const text of ['one', 'two', 'three']) await client.call('XADD', logs, '*', 'text', text);
  const ids = async (...words: readonly string[]) =>
    ((await client.call('XREVRANGE', logs, ...words)) as readonly [string][]).map(([id]) => id);
  expect(await ids('+', '-')).toEqual(['3-0', '2-0', '1-0']);
  expect(await ids('+', '-', 'COUNT', '1')).toEqual(['3-0']);
  expect(await ids('2-0', '2-0')).toEqual(['2-0']);
  expect(await ids('(3-0', '(1-0')).toEqual(['2-0']);
  const info = (await client.call('XINFO', 'STREAM', logs)) as readonly Value[];
  expect(info.slice(0, 2)).toEqual(['length', 3]);
  expect(info[info.indexOf('last-generated-id') + 1]).toBe('3-0');
  expect(JSON.stringify(info[info.indexOf('first-entry') + 1])).toContain('"one"');
  expect(JSON.stringify(info[info.indexOf('last-entry') + 1])).toContain('"three"');
});

test('PUBSUB returns the number of subscriptions', async () => {
  client = await adapter.member();
  const [listener, other] = [await adapter.member(), await adapter.member()];
  await listener.call('SUBSCRIBE', 'script.updated');
  await other.call('PSUBSCRIBE', 'script.*');
  expect(await client.call('PUBSUB', 'CHANNELS', 'script.*')).toEqual(['script.updated']);
  expect(await client.call('PUBSUB', 'NUMSUB', 'script.updated', 'x')).toEqual([
    'script.updated',
    1,
    'x',
    0,
  ]);
  expect(await client.call('PUBSUB', 'NUMPAT')).toBe(1);
});
