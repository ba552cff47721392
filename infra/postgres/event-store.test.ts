import { startOfStore } from '#domain/kernel/event.ts';
import { systemClock } from '#infra/system/clock.ts';
import { createTestDatabase } from '#infra/testing/database.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventStoreConformance, newEvent } from '../conformance/event-store.ts';
import { inTransaction, openDatabase, type Database } from './database.ts';
import { appendEvents, PostgresEventStore } from './event-store.ts';

let database: Database;
let drop: () => Promise<void>;
beforeAll(async () => {
  const made = await createTestDatabase();
  drop = made.drop;
  database = openDatabase(made.serviceUrl, {
    connections: 20,
    applicationName: 'test',
    onIdleError: () => undefined,
  });
});
afterAll(async () => {
  await database.close();
  await drop();
});

eventStoreConformance('on Postgres', () =>
  Promise.resolve(new PostgresEventStore(database.pool, systemClock)),
);

describe('the history', () => {
  test.each(['UPDATE events SET type = type', 'DELETE FROM events', 'TRUNCATE events'])(
    'refuses: %s',
    async (statement) => {
      await expect(database.pool.query(statement)).rejects.toMatchObject({ code: '42501' });
    },
  );

  test('shows no event while an earlier one could still appear', async () => {
    const store = new PostgresEventStore(database.pool, systemClock);
    const slow = { streamId: 'test-slow', expectedVersion: 0, events: [newEvent('Slow', {})] } as const;
    const quick = { streamId: 'test-quick', expectedVersion: 0, events: [newEvent('Quick', {})] } as const;
    await inTransaction(database.pool, async (client) => {
      await appendEvents(client, [slow], systemClock.now());
      await store.append([quick]);
      expect(await streamsOf(store)).not.toContain('test-quick');
    });
    const streams = await streamsOf(store);
    expect(streams.indexOf('test-slow')).toBeLessThan(streams.indexOf('test-quick'));
    expect(streams.indexOf('test-slow')).toBeGreaterThanOrEqual(0);
  });
});

async function streamsOf(store: PostgresEventStore): Promise<string[]> {
  return (await store.readAll(startOfStore, 10_000)).map((event) => event.streamId);
}
