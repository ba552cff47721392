import { scriptId } from '#domain/testing/ids.ts';
import { recordedBy, userContext, untilTrue } from '#infra/testing/platform.ts';
import { mustParse, parseScriptId } from '#domain/kernel/ids.ts';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { complete, popped } from './testing/jobs.ts';
import type { RawClient, Value } from './testing/raw-client.ts';
import { startTestAdapter, type TestAdapter } from './testing/test-adapter.ts';

let adapter: TestAdapter;
beforeAll(async () => {
  adapter = await startTestAdapter();
});
afterEach(() => adapter.clear());
afterAll(() => adapter.close());

let saves = 0;

async function save(script: number): Promise<void> {
  saves += 1;
  const id = mustParse(parseScriptId, scriptId(script));
  const change = { type: 'ChangeScript', scriptId: id, description: `Save ${saves}` } as const;
  recordedBy(await adapter.commands.execute(change, userContext()));
}

function bodyOf(message: Value): unknown {
  const parts = message as readonly string[];
  return JSON.parse(parts.at(-1) ?? '');
}

async function subscriber(...words: readonly string[]): Promise<RawClient> {
  const client = await adapter.member();
  await client.call(...words);
  return client;
}

describe('a subscriber', () => {
  test('is notified after the end of a worker’s run is recorded', async () => {
    const listener = await subscriber('SUBSCRIBE', 'script.completed');
    const worker = await adapter.member();
    const runId = await adapter.queueRun();
    await popped(worker);
    expect(await complete(worker, runId, { status: 'failed', exit_code: 2 })).toBe(1);
    const message = await listener.reply();
    expect((message as Value[]).slice(0, 2)).toEqual(['message', 'script.completed']);
    expect(bodyOf(message)).toEqual({
      script_id: scriptId(),
      run_id: runId,
      status: 'failed',
      exit_code: 2,
      error_type: 'exit_code',
      error_group_id: expect.any(String),
      position: expect.any(Number),
    });
  });

  test('receives one message per matching pattern when a script is saved', async () => {
    const listener = await subscriber('PSUBSCRIBE', 'script.*', 's*');
    await listener.reply();
    await save(1);
    const heard = [await listener.reply(), await listener.reply()] as Value[][];
    expect(heard.map((one) => one.slice(0, 3))).toEqual([
      ['pmessage', 'script.*', 'script.updated'],
      ['pmessage', 's*', 'script.updated'],
    ]);
    expect(bodyOf(heard[0]!)).toMatchObject({ script_id: scriptId(), version: expect.any(Number) });
  });

  test('receives a published reload request, as the schedulers do', async () => {
    const reloads: unknown[] = [];
    const leave = adapter.bus.subscribe('reload', (message) => reloads.push(message));
    const listener = await subscriber('SUBSCRIBE', 'scheduler:reload');
    const client = await adapter.member();
    expect(await client.call('PUBLISH', 'scheduler:reload', '')).toBe(1);
    expect(await listener.reply()).toEqual(['message', 'scheduler:reload', '{}']);
    expect(reloads).toEqual([{ topic: 'reload' }]);
    leave();
  });

  test('receives only messages about the groups of its token', async () => {
    const listener = await adapter.openUnauthenticated();
    await listener.call('AUTH', await adapter.token(['scripts:read'], { groups: [2] }));
    await listener.call('SUBSCRIBE', 'script.updated');
    await save(1);
    await save(2);
    expect(bodyOf(await listener.reply())).toMatchObject({ script_id: scriptId(2) });
  });

  test('gets an error that names each channel for which its token is insufficient', async () => {
    const listener = await adapter.openUnauthenticated();
    await listener.call('AUTH', await adapter.token(['scripts:read']));
    expect(await listener.call('SUBSCRIBE', 'script.completed')).toMatch(
      /^-NOPERM cannot subscribe to script.completed/,
    );
    expect(await listener.call('PUBLISH', 'scheduler:reload', '')).toMatch(
      /^-NOPERM requires a token/,
    );
    expect(await listener.call('PUBLISH', 'script.updated', '{}')).toMatch(
      /^-ERR cannot publish to this channel/,
    );
    expect(await listener.call('PUBLISH', 'nonsense', '{}')).toMatch(
      /^-ERR cannot publish to this channel/,
    );
  });

  test('can send other commands only with RESP3', async () => {
    const old = await subscriber('SUBSCRIBE', 'script.updated');
    expect(await old.call('LLEN', 'runtime:jobs')).toMatch(/^-ERR Can't execute 'llen'/);
    expect(await old.call('PING', 'x')).toEqual(['pong', 'x']);
    expect(await old.call('UNSUBSCRIBE')).toEqual(['unsubscribe', 'script.updated', 0]);
    expect(await old.call('UNSUBSCRIBE')).toEqual(['unsubscribe', null, 0]);
    expect(await old.call('LLEN', 'runtime:jobs')).toBe(0);
    const present = await adapter.member();
    await present.call('HELLO', '3');
    expect(await present.call('SUBSCRIBE', 'script.updated')).toEqual([
      '>',
      'subscribe',
      'script.updated',
      1,
    ]);
    expect(await present.call('LLEN', 'runtime:jobs')).toBe(0);
    await save(1);
    expect(((await present.reply()) as Value[]).slice(0, 3)).toEqual([
      '>',
      'message',
      'script.updated',
    ]);
  });

  test('cannot exceed the maximum number of subscriptions per connection', async () => {
    const client = await adapter.member();
    const names = Array.from({ length: 101 }, (_, index) => `channel ${index}`);
    expect(await client.call('SUBSCRIBE', ...names)).toBe(
      '-ERR a connection may have at most 100 subscriptions',
    );
    expect(await client.call('SUBSCRIBE', 'x'.repeat(300))).toMatch(/too long$/);
    expect(await client.call('LLEN', 'runtime:jobs')).toBe(0);
  });

  test('is disconnected if it never reads its messages, without affecting others', async () => {
    const deaf = await subscriber(
      'PSUBSCRIBE',
      ...Array.from({ length: 100 }, (_, at) => `scheduler:*${'*'.repeat(at)}`),
    );
    deaf.socket.pause();
    const listener = await subscriber('SUBSCRIBE', 'scheduler:reload');
    const text = 'x'.repeat(400);
    const isCutOff = () =>
      adapter.logged.some((line) => line.includes('subscriber is not reading its messages'));
    let told = 0;
    await untilTrue('it is cut off', async () => {
      for (let more = 0; more < 50; more += 1) {
        adapter.bus.publish({ topic: 'reload', scheduleId: text });
        told += 1;
        await listener.reply();
      }
      return isCutOff();
    });
    expect(told).toBeGreaterThan(0);
  });
});
