import type { StreamId } from '#domain/kernel/event.ts';
import { newEvent } from '#infra/conformance/event-store.ts';
import { systemIds } from '#infra/system/ids.ts';
import {
  openTestPlatform,
  tickingClock,
  untilTrue,
  type TestPlatform,
} from '#infra/testing/platform.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { lockStreams } from '../commands/command-batch.ts';
import { inTransaction } from '../database.ts';
import { appendEvents, PostgresEventStore } from './event-store.ts';
import { readBackwards, readVersions, versionsAt, type Moment } from './streams-at.ts';

let platform: TestPlatform;
beforeAll(async () => {
  platform = await openTestPlatform();
});
afterAll(() => platform.close());

/** Creates a stream whose events were recorded one second apart. */
async function streamOf(count: number) {
  const streamId = `test-${systemIds.next()}` as const;
  const store = new PostgresEventStore(platform.pool, tickingClock());
  for (let version = 0; version < count; version += 1) {
    const events = [newEvent('Ticked', { version })];
    await store.append([{ streamId, expectedVersion: version, events }]);
  }
  return { streamId, events: await store.readStream(streamId) };
}

const versionAt = async (streamId: StreamId, moment: Moment) =>
  (await versionsAt(platform.pool, [streamId], moment)).get(streamId);

test.each([1, 2, 7, 16])(
  'a stream with %i events can be read as of any point in time',
  async (count) => {
    const { streamId, events } = await streamOf(count);
    for (const { version, recordedAt, position } of events) {
      const before = new Date(recordedAt.getTime() - 1);
      const { globalPosition } = position;
      expect(await versionAt(streamId, { kind: 'time', time: recordedAt })).toBe(version);
      expect(await versionAt(streamId, { kind: 'time', time: before })).toBe(version - 1);
      for (const [shift, expected] of [
        [0, version],
        [-1, version - 1],
      ] as const) {
        const moment = { kind: 'position', position: globalPosition + shift } as const;
        expect(await versionAt(streamId, moment)).toBe(expected);
      }
    }
  },
);

test('an empty stream has no events at any point in time', async () => {
  expect(await versionAt('test-none', { kind: 'time', time: new Date() })).toBe(0);
});

test('a read as of a point in time waits for concurrent writers', async () => {
  const { streamId } = await streamOf(1);
  const time = new Date();
  let asked: Promise<number | undefined> | undefined;
  await inTransaction(platform.pool, async (client) => {
    await client.query(lockStreams, [[streamId]]);
    asked = versionAt(streamId, { kind: 'time', time });
    await untilTrue('the query waits for the stream', async () => {
      const { rows } = await platform.pool.query<{ waits: boolean }>(
        `SELECT EXISTS (SELECT FROM pg_stat_activity WHERE datname = current_database()
          AND wait_event_type = 'Lock') AS waits`,
      );
      return rows[0]?.waits === true;
    });
    const append = { streamId, expectedVersion: 1, events: [newEvent('Ticked', {})] };
    await appendEvents(client, [append], time);
  });
  expect(await asked).toBe(2);
});

test('a stream can be read backwards in pages, or by single versions', async () => {
  const { streamId, events } = await streamOf(5);
  const { pool } = platform;
  expect(await readBackwards(pool, streamId, undefined, 2)).toEqual([events[4], events[3]]);
  expect(await readBackwards(pool, streamId, 3, 9)).toEqual([events[1], events[0]]);
  const some = await readVersions(pool, streamId, [4, 1, 4, 9]);
  expect(some).toEqual(
    new Map([
      [1, events[0]],
      [4, events[3]],
    ]),
  );
});
