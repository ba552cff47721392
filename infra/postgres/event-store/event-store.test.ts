import { startOfStore } from '#domain/kernel/event.ts';
import { systemClock } from '#infra/system/clock.ts';
import { withClient } from '#infra/testing/client.ts';
import { eventsVisible, openTestPlatform, type TestPlatform } from '#infra/testing/platform.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventStoreConformance, newEvent } from '../../conformance/event-store.ts';
import { inTransaction } from '../database.ts';
import { appendEvents, PostgresEventStore } from './event-store.ts';

let platform: TestPlatform;
beforeAll(async () => {
  platform = await openTestPlatform();
});
afterAll(() => platform.close());

eventStoreConformance('on Postgres', () =>
  Promise.resolve(new PostgresEventStore(platform.pool, systemClock)),
);

describe('the events table', () => {
  const changes = ['UPDATE events SET type = type', 'DELETE FROM events', 'TRUNCATE events'];

  test.each(changes)('cannot be modified by services with %s', async (statement) => {
    await expect(platform.pool.query(statement)).rejects.toMatchObject({ code: '42501' });
  });

  test.each(changes)('cannot be modified by the schema’s owner with %s', async (statement) => {
    await new PostgresEventStore(platform.pool, systemClock).append([
      { streamId: `test-${statement}`, expectedVersion: 0, events: [newEvent('Kept', {})] },
    ]);
    await expect(
      withClient(platform.adminUrl, (client) => client.query(statement)),
    ).rejects.toMatchObject({ message: 'events are immutable' });
  });

  test('hides an event from readers while an earlier event may still be committed', async () => {
    const { pool } = platform;
    const store = new PostgresEventStore(pool, systemClock);
    const slow = {
      streamId: 'test-slow',
      expectedVersion: 0,
      events: [newEvent('Slow', {})],
    } as const;
    const quick = {
      streamId: 'test-quick',
      expectedVersion: 0,
      events: [newEvent('Quick', {})],
    } as const;
    await inTransaction(pool, async (client) => {
      await appendEvents(client, [slow], systemClock.now());
      await store.append([quick]);
      expect(await streamsOf(store)).not.toContain('test-quick');
    });
    await eventsVisible(pool);
    const streams = await streamsOf(store);
    expect(streams.indexOf('test-slow')).toBeLessThan(streams.indexOf('test-quick'));
    expect(streams.indexOf('test-slow')).toBeGreaterThanOrEqual(0);
  });
});

async function streamsOf(store: PostgresEventStore): Promise<string[]> {
  return (await store.readAll(startOfStore, 10_000)).map((event) => event.streamId);
}

test('an event written by a newer release cannot be read', async () => {
  const store = new PostgresEventStore(platform.pool, systemClock);
  const newer = { ...newEvent('RunQueued', {}), schemaVersion: 99 };
  await store.append([{ streamId: 'run-newer', expectedVersion: 0, events: [newer] }]);
  await expect(store.readStream('run-newer')).rejects.toThrow(/newer version/);
});
