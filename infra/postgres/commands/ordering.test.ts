/** Tests the known hazards of ordering events by transaction ID. Each hazard is either prevented or detected. */
import { startOfStore, type StreamId } from '#domain/kernel/event.ts';
import { VersionConflict } from '#domain/ports/event-store.ts';
import { beginning } from '#domain/testing/recorded.ts';
import { newEvent } from '#infra/conformance/event-store.ts';
import { systemClock } from '#infra/system/clock.ts';
import { withClient } from '#infra/testing/client.ts';
import {
  eventsVisible,
  openTestPlatform,
  userContext,
  type TestPlatform,
} from '#infra/testing/platform.ts';
import { auditProjection } from '#projections/audit/apply.ts';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { inTransaction } from '../database.ts';
import { appendEvents, PostgresEventStore } from '../event-store/event-store.ts';
import { renumberEvents } from '../event-store/renumber-events.ts';
import { Projector } from '../readers/projector.ts';
import { readerLags, refuseForeignEvents } from '../readers/store-health.ts';

const { signal } = new AbortController();

let platform: TestPlatform;
let store: PostgresEventStore;
beforeEach(async () => {
  platform = await openTestPlatform();
  store = new PostgresEventStore(platform.pool, systemClock);
});
afterEach(() => platform.close());

const one = (streamId: StreamId, expectedVersion: number) => ({
  streamId,
  expectedVersion,
  events: [newEvent('Happened', {})],
});

async function versionsOf(streamId: StreamId): Promise<readonly number[]> {
  await eventsVisible(platform.pool);
  const events = await store.readAll(startOfStore, 100_000);
  return events.filter((event) => event.streamId === streamId).map((event) => event.version);
}

test('an append is refused if its transaction ID is lower than that of an earlier event in the stream', async () => {
  await store.append([one('test-a', 0)]);
  const late = inTransaction(platform.pool, async (client) => {
    await client.query('SELECT pg_current_xact_id()');
    await store.append([one('test-a', 1)]);
    // The append expects the version that was read. Otherwise, version 3 would precede version 2.
    await appendEvents(client, [one('test-a', 1)], systemClock.now());
  });
  await expect(late).rejects.toThrow(VersionConflict);
  expect(await versionsOf('test-a')).toEqual([1, 2]);
});

test('readers see every stream once and in order, even if positions are assigned out of order', async () => {
  await inTransaction(platform.pool, async (early) => {
    await early.query('SELECT pg_current_xact_id()');
    // The transaction that starts later gets the earlier position.
    await store.append([one('test-later', 0)]);
    await appendEvents(early, [one('test-early', 0)], systemClock.now());
  });
  await eventsVisible(platform.pool);
  const events = await store.readAll(startOfStore, 100);
  expect(events.map((event) => event.streamId)).toEqual(['test-early', 'test-later']);
  expect(events[0]!.position.globalPosition).toBeGreaterThan(events[1]!.position.globalPosition);
  const [first] = events;
  expect(await store.readAll(first!.position, 100)).toEqual(events.slice(1));
});

test('the lag of readers is reported while a long transaction stalls them', async () => {
  for (const command of beginning) await platform.commands.execute(command, userContext());
  await eventsVisible(platform.pool);
  const projector = new Projector(platform.pool, [auditProjection]);
  await projector.runOnce(signal);
  await inTransaction(platform.pool, async (client) => {
    await client.query('SELECT pg_current_xact_id()');
    await store.append([one('test-hidden', 0)]);
    expect(await projector.runOnce(signal)).toBe(0);
    const [lag] = await readerLags(platform.pool);
    expect(lag).toMatchObject({ name: 'audit', events: 1 });
    expect(lag!.seconds).toBeGreaterThan(0);
  });
  await eventsVisible(platform.pool);
  expect(await projector.runOnce(signal)).toBe(1);
  expect(await readerLags(platform.pool)).toMatchObject([{ events: 0, seconds: 0 }]);
});

test('events from another server are detected at startup, and renumbered during a restore', async () => {
  await store.append([one('test-own', 0), one('test-other', 0)]);
  await expect(refuseForeignEvents(platform.pool)).resolves.toBeUndefined();
  const copy = `INSERT INTO events (transaction_id, stream_id, version, event_id, type, schema_version,
    data, metadata, recorded_at) SELECT '9000000000', 'test-copied', n, gen_random_uuid(), 'Copied', 1,
    '{}', metadata, now() FROM generate_series(1, 3) n, (SELECT metadata FROM events LIMIT 1) m`;
  await withClient(platform.adminUrl, (client) => client.query(copy));
  const visible = await store.readAll(startOfStore, 100);
  expect(visible.map((event) => event.streamId)).not.toContain('test-copied');
  await expect(refuseForeignEvents(platform.pool)).rejects.toThrow(/3 events have transaction IDs/);
  await withClient(platform.adminUrl, async (client) => {
    await client.query('BEGIN');
    await renumberEvents(client);
    await client.query('COMMIT');
  });
  await expect(refuseForeignEvents(platform.pool)).resolves.toBeUndefined();
  expect(await versionsOf('test-copied')).toEqual([1, 2, 3]);
  await store.append([one('test-next', 0)]);
  await eventsVisible(platform.pool);
  const events = await store.readAll(startOfStore, 100);
  expect(events.map((event) => event.position.globalPosition)).toEqual([1, 2, 3, 4, 5, 6]);
  await expect(platform.pool.query('DELETE FROM events')).rejects.toThrow();
});
