/** Tests commands that are decided based on cached streams. */
import type { Command, Recorded } from '#domain/aggregates.ts';
import type { StreamId } from '#domain/kernel/event.ts';
import { startOfStore } from '#domain/kernel/event.ts';
import type { Commands } from '#domain/ports/commands.ts';
import { defaultSettings } from '#domain/script/settings.ts';
import type { History } from '#domain/snapshots.ts';
import { groupId, runId, scriptId } from '#domain/testing/ids.ts';
import { createGroup, createScript, file, finishRun, runScript } from '#domain/testing/samples.ts';
import {
  answersOf,
  eventsVisible,
  openTestPlatform,
  userContext,
  streamOf,
  type TestPlatform,
} from '#infra/testing/platform.ts';
import type pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { readAll } from '../event-store/event-store.ts';
import { PostgresRunQueue } from '../queue/run-queue.ts';
import { KnownStreams } from './known-streams.ts';

let platform: TestPlatform;
beforeAll(async () => {
  platform = await openTestPlatform();
  await platform.accepted(createGroup());
});
afterAll(() => platform.close());

let number = 0;
const script = () => scriptId(number);
const run = (turn = 1) => runId(number * 100 + turn);
const queue = (turn = 1) => runScript({ scriptId: script(), runId: run(turn) });
const start = (runtimeId = 'a', turn = 1) =>
  ({ type: 'StartRun', runId: run(turn), runtimeId, layers: [] }) as const;
const finish = (turn = 1) => finishRun({ runId: run(turn) });
const stop = (turn = 1): Command => ({ type: 'StopRun', runId: run(turn) });
const save = (path: string): Command => ({ type: 'SaveFile', scriptId: script(), ...file(path) });
beforeEach(async () => {
  number += 1;
  await platform.pool.query('DELETE FROM run_queue');
  await platform.accepted(
    createScript({ scriptId: script(), settings: { ...defaultSettings, maxConcurrentRuns: 100 } }),
  );
});

/** A process with a stream cache, which records its statements. */
class Process {
  readonly streams = new KnownStreams();
  readonly commands: Commands;
  /** The statements, and how many of them were sent before the first response. */
  readonly sent: string[] = [];
  atOnce = 0;

  constructor() {
    this.commands = platform.pipeline({ pool: this.#watched(), known: this.streams });
  }

  async execute(command: Command) {
    this.sent.length = 0;
    this.atOnce = 0;
    return await this.commands.execute(command, userContext());
  }

  claim(limit = 1) {
    return new PostgresRunQueue(platform.pool, this.streams).claim('a', limit, 60);
  }

  /** Whether the process has read the histories of the streams. */
  get hasAsked(): boolean {
    return this.sent.some((text) => text.includes('FROM snapshots'));
  }

  #watched(): pg.Pool {
    const connect = async () => {
      const client = await platform.pool.connect();
      const query = client.query.bind(client) as (...all: unknown[]) => Promise<unknown>;
      const watching = async (...all: unknown[]) => {
        this.sent.push(String(all[0]));
        try {
          return await query(...all);
        } finally {
          this.atOnce ||= this.sent.length;
        }
      };
      return new Proxy(client, {
        get: (target, name) => {
          if (name === 'query') return watching;
          const value: unknown = Reflect.get(target, name);
          return typeof value === 'function' ? value.bind(target) : value;
        },
      });
    };
    return { connect } as unknown as pg.Pool;
  }
}

async function typesOf(streamId: string): Promise<readonly string[]> {
  const { rows } = await platform.pool.query<{ type: string }>(
    'SELECT type FROM events WHERE stream_id = $1 ORDER BY version',
    [streamId],
  );
  return rows.map(({ type }) => type);
}

async function statusOf(turn = 1) {
  return (
    await platform.reads
      .selectFrom('runs')
      .select(['status', 'stream_version'])
      .where('run_id', '=', run(turn))
      .executeTakeFirst()
  )?.status;
}

describe('commands on cached streams', () => {
  test('are sent with their rows and the commit in one round trip', async () => {
    const runtime = new Process();
    await platform.accepted(queue());
    await runtime.claim();
    expect(await runtime.execute(start())).toMatchObject({ kind: 'accepted', version: 2 });
    expect([runtime.hasAsked, runtime.sent.at(-1)]).toEqual([false, 'COMMIT']);
    expect(runtime.atOnce).toBe(runtime.sent.length);
    const end = await runtime.execute(finish());
    expect(end).toMatchObject({ kind: 'accepted', version: 3, events: [{ version: 3 }] });
    expect([runtime.hasAsked, runtime.atOnce]).toEqual([false, runtime.sent.length]);
    expect(await statusOf()).toBe('success');
  });

  test('lock the streams before the transaction gets an ID', async () => {
    const runtime = new Process();
    await platform.accepted(queue());
    await runtime.claim();
    await runtime.execute(start());
    expect(runtime.sent[1]).toContain('pg_advisory_xact_lock');
    expect(runtime.sent[2]).toContain('append_events');
  });

  test('are executed as one batch, even on the same stream', async () => {
    const process = new Process();
    for (const turn of [1, 2]) {
      await platform.accepted(queue(turn));
      await process.claim();
    }
    const outcomes = await Promise.all(
      [start(), start('a', 2), finish()].map((one) => process.execute(one)),
    );
    expect(answersOf(outcomes)).toEqual(['accepted', 'accepted', 'accepted']);
    expect([await statusOf(), await statusOf(2)]).toEqual(['success', 'running']);
  });

  test('read other data for their decisions only while holding the locks', async () => {
    const backend = new Process();
    await backend.execute(createScript({ scriptId: scriptId(900 + number) }));
    const change = { type: 'ChangeScript', scriptId: scriptId(900 + number) } as const;
    expect(await backend.execute({ ...change, name: 'New' })).toMatchObject({ version: 2 });
    expect(backend.hasAsked).toBe(false);
    expect(await backend.execute({ ...change, groupId: groupId(77) })).toMatchObject({
      kind: 'refused',
    });
    expect(backend.hasAsked).toBe(true);
  });
});

describe('commands on cached streams that another process has changed', () => {
  test('do not start a run that has ended', async () => {
    const runtime = new Process();
    await platform.accepted(queue());
    await runtime.claim();
    await platform.accepted(stop());
    const outcome = await runtime.execute(start());
    expect(outcome).toMatchObject({ kind: 'refused', refusal: { code: 'run_fenced' } });
    expect(await typesOf(`run-${run()}`)).toEqual(['RunQueued', 'RunFinished']);
    expect(runtime.streams.all([`run-${run()}`])).toBeUndefined();
  });

  test('are accepted if they are still valid after the change', async () => {
    const runtime = new Process();
    await platform.accepted(queue());
    await runtime.claim();
    await runtime.execute(start());
    await platform.accepted(stop());
    expect(await runtime.execute(finish())).toMatchObject({ kind: 'accepted', version: 4 });
    expect(await typesOf(`run-${run()}`)).toEqual([
      'RunQueued',
      'RunStarted',
      'RunStopRequested',
      'RunFinished',
    ]);
  });

  test('are never refused or ignored because of outdated state', async () => {
    const runtime = new Process();
    await runtime.execute({ ...queue(), whenBusy: 'queue', notBefore: '2026-01-01T00:00:00.000Z' });
    await platform.accepted({ type: 'ReleaseRun', runId: run(), scriptId: script() });
    expect(await runtime.execute(start())).toMatchObject({ kind: 'accepted', version: 3 });
    const change = { type: 'ChangeScript', scriptId: scriptId(900 + number) } as const;
    await runtime.execute(createScript({ scriptId: change.scriptId, name: 'Old' }));
    await platform.accepted({ ...change, name: 'New' });
    expect(await runtime.execute({ ...change, name: 'Old' })).toMatchObject({ version: 3 });
  });

  test('cause at most one retry of the batch for the other commands', async () => {
    const runtime = new Process();
    const turns = Array.from({ length: 20 }, (_, index) => index + 1);
    for (const turn of turns) await platform.accepted(queue(turn));
    await runtime.claim(turns.length);
    await platform.accepted(stop(7));
    const outcomes = await Promise.all(turns.map((turn) => runtime.execute(start('a', turn))));
    expect(answersOf(outcomes)).toEqual([...turns.slice(1).map(() => 'accepted'), 'run_fenced']);
    expect(outcomes[6]).toMatchObject({ kind: 'refused' });
    // One transaction for the first command, one for the batch of the others, and one more attempt at the batch if a
    // stream was out of date.
    expect(runtime.sent.filter((text) => text.startsWith('BEGIN'))).toHaveLength(3);
    const running = platform.reads.selectFrom('runs').select('run_id');
    const ours = running.where('script_id', '=', script()).where('status', '=', 'running');
    expect(await ours.execute()).toHaveLength(turns.length - 1);
  });
});

describe('several processes that cache the same streams', () => {
  test('start a run once', async () => {
    for (let turn = 1; turn <= 10; turn += 1) {
      await platform.accepted(queue(turn));
      const runtimes = [new Process(), new Process(), new Process()];
      for (const runtime of runtimes) {
        await runtime.claim();
        await platform.pool.query("UPDATE run_queue SET lease_until = now() - interval '1 s'");
      }
      const asked = runtimes.flatMap((one) => [
        one.execute(start('x', turn)),
        one.execute(start('y', turn)),
      ]);
      const fenced = Array.from({ length: 5 }, () => 'run_fenced');
      expect(answersOf(await Promise.all(asked))).toEqual(['accepted', ...fenced]);
      expect(await typesOf(`run-${run(turn)}`)).toEqual(['RunQueued', 'RunStarted']);
    }
  });

  test('show readers the events of a stream in their order', async () => {
    const writers = [new Process(), new Process(), new Process()];
    const history: History = {
      events: (await readAll(platform.pool, startOfStore, 100_000)).filter(
        ({ streamId }) => streamId === `script-${script()}`,
      ),
    };
    for (const { streams } of writers) streams.keep(`script-${script()}`, history);
    const outcomes = await platform.whileHeld(
      streamOf(`script-${script()}`),
      writers.map((writer, index) => () => writer.execute(save(`${index}.py`))),
    );
    expect(answersOf(outcomes)).toEqual(['accepted', 'accepted', 'accepted']);
    await eventsVisible(platform.pool);
    const events = (await readAll(platform.pool, startOfStore, 100_000)) as readonly Recorded[];
    const ours = events.filter(({ streamId }) => streamId === `script-${script()}`);
    expect(ours.map(({ version }) => version)).toEqual([1, 2, 3, 4]);
  });
});

describe('the stream cache', () => {
  const streamId = (index: number): StreamId => `run-${runId(index)}`;
  const historyOf = (count: number) =>
    ({ events: Array.from({ length: count }, () => ({})) }) as unknown as History;

  test('is limited in size, and evicts the oldest and longest streams', () => {
    const streams = new KnownStreams();
    for (let index = 1; index <= 257; index += 1) streams.keep(streamId(index), historyOf(1));
    expect(streams.all([streamId(1)])).toBeUndefined();
    expect(streams.all([streamId(2), streamId(257)])?.size).toBe(2);
    streams.keep(streamId(2), historyOf(17));
    expect(streams.all([streamId(2)])).toBeUndefined();
  });

  test('keeps the latest version of a stream, regardless of the order of updates', () => {
    const streams = new KnownStreams();
    streams.keep(streamId(1), historyOf(3));
    streams.keep(streamId(1), historyOf(2));
    expect(streams.all([streamId(1)])?.get(streamId(1))).toEqual(historyOf(3));
  });

  test('contains claimed runs that have only one event', async () => {
    const { streams } = new Process();
    const queueOf = new PostgresRunQueue(platform.pool, streams);
    await platform.accepted(queue());
    await platform.accepted({
      ...queue(2),
      whenBusy: 'queue',
      notBefore: '2026-01-01T00:00:00.000Z',
    });
    await platform.accepted({ type: 'ReleaseRun', runId: run(2), scriptId: script() });
    expect(await queueOf.claim('a', 2, 60)).toHaveLength(2);
    const found = streams.all([`run-${run()}`])?.get(`run-${run()}`);
    expect(found?.events).toMatchObject([{ type: 'RunQueued', version: 1 }]);
    expect(streams.all([`run-${run(2)}`])).toBeUndefined();
  });
});
