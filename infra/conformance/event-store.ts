/** The contract for all event store adapters. */
import {
  startOfStore,
  type NewEvent,
  type RecordedEvent,
  type StreamId,
} from '#domain/kernel/event.ts';
import { mustParse, parseCommandId, parseEventId } from '#domain/kernel/ids.ts';
import { VersionConflict, type EventStore } from '#domain/ports/event-store.ts';
import { systemIds } from '#infra/system/ids.ts';
import { beforeAll, describe, expect, test, vi } from 'vitest';

/** @param open opens an empty store */
export function eventStoreConformance(name: string, open: () => Promise<EventStore>): void {
  describe(`${name}: the event store`, () => {
    let store: EventStore;
    beforeAll(async () => {
      store = await open();
    });

    test('reads the events of a stream unchanged and in order', async () => {
      const streamId = newStream();
      const events = [
        newEvent('First', { text: 'é\u2028"\\' }),
        newEvent('Second', { n: [1, null] }),
      ];
      const [recorded] = [await store.append([{ streamId, expectedVersion: 0, events }])];
      const read = await store.readStream(streamId);
      expect(read).toEqual(recorded);
      expect(read.map(({ type, data, version }) => ({ type, data, version }))).toEqual([
        { type: 'First', data: { text: 'é\u2028"\\' }, version: 1 },
        { type: 'Second', data: { n: [1, null] }, version: 2 },
      ]);
    });

    test('reads a stream from a given version', async () => {
      const streamId = await filledStream(store, 3);
      expect((await store.readStream(streamId, 3)).map((event) => event.version)).toEqual([3]);
      expect(await store.readStream(newStream())).toEqual([]);
    });

    test('writes nothing and names the conflict when another writer was first', async () => {
      const taken = await filledStream(store, 2);
      const fresh = newStream();
      const attempt = store.append([
        { streamId: fresh, expectedVersion: 0, events: [newEvent('Lost', {})] },
        { streamId: taken, expectedVersion: 1, events: [newEvent('Lost', {})] },
      ]);
      await expect(attempt).rejects.toThrow(VersionConflict);
      await attempt.catch((error: VersionConflict) => {
        expect(error.conflicts).toMatchObject([{ streamId: taken, version: 2 }]);
      });
      expect(await store.readStream(fresh)).toEqual([]);
      expect(await store.readStream(taken)).toHaveLength(2);
    });

    test('reports a conflict when a new stream already exists, or an existing one does not', async () => {
      const taken = await filledStream(store, 1);
      const events = [newEvent('Lost', {})];
      await expect(store.append([{ streamId: taken, expectedVersion: 0, events }])).rejects.toThrow(
        VersionConflict,
      );
      await expect(
        store.append([{ streamId: newStream(), expectedVersion: 4, events }]),
      ).rejects.toThrow(VersionConflict);
    });

    test('reports a conflict when an event is appended twice', async () => {
      const event = newEvent('Once', {});
      await store.append([{ streamId: newStream(), expectedVersion: 0, events: [event] }]);
      await expect(
        store.append([{ streamId: newStream(), expectedVersion: 0, events: [event] }]),
      ).rejects.toThrow(VersionConflict);
    });

    test('lets exactly one of fifty writers append a version', async () => {
      const streamId = await filledStream(store, 1);
      const results = await Promise.allSettled(
        Array.from({ length: 50 }, () =>
          store.append([{ streamId, expectedVersion: 1, events: [newEvent('Raced', {})] }]),
        ),
      );
      expect(results.filter((result) => result.status === 'fulfilled')).toHaveLength(1);
      expect(await store.readStream(streamId)).toHaveLength(2);
    });

    test('reports a conflict when one call names a stream or an event twice', async () => {
      const [streamId, taken] = [newStream(), await filledStream(store, 1)];
      const event = newEvent('Lost', {});
      const one = (id: StreamId, expectedVersion: number) => ({
        streamId: id,
        expectedVersion,
        events: [newEvent('Lost', {})],
      });
      for (const appends of [
        [one(streamId, 0), one(streamId, 0)],
        [one(streamId, 0), one(streamId, 1)],
        [one(taken, 1), one(taken, 1)],
        [one(taken, 1), one(taken, 2)],
        [{ streamId, expectedVersion: 0, events: [event, event] }],
      ]) {
        await expect(store.append(appends)).rejects.toThrow(VersionConflict);
      }
      expect(await store.readStream(streamId)).toEqual([]);
      expect(await store.readStream(taken)).toHaveLength(1);
    });

    test('does not check the version of a stream without new events', async () => {
      const taken = await filledStream(store, 1);
      expect(await store.append([])).toEqual([]);
      expect(await store.append([{ streamId: taken, expectedVersion: 0, events: [] }])).toEqual([]);
    });

    test('writes several streams together, each contiguously', async () => {
      const [old, fresh] = [await filledStream(store, 2), newStream()];
      const recorded = await store.append([
        { streamId: old, expectedVersion: 2, events: [newEvent('A', {}), newEvent('B', {})] },
        { streamId: fresh, expectedVersion: 0, events: [newEvent('C', {})] },
      ]);
      expect(recorded.map(({ type, streamId, version }) => [type, streamId, version])).toEqual([
        ['A', old, 3],
        ['B', old, 4],
        ['C', fresh, 1],
      ]);
      const places = recorded.map((event) => event.position.globalPosition);
      expect(places).toEqual([...new Set(places)].toSorted((one, other) => one - other));
      expect(await store.readStream(fresh)).toEqual(recorded.slice(2));
    });

    test('does not deadlock when many writers lock the same streams in any order', async () => {
      const streams = [newStream(), newStream(), newStream()];
      const inOrder = (turn: number) =>
        streams.map((_, index) => streams[(index + turn) % streams.length] ?? newStream());
      const writers = Array.from({ length: 12 }, (_, turn) =>
        retried(async () => {
          const appends = await Promise.all(
            inOrder(turn).map(async (streamId) => ({
              streamId,
              expectedVersion: (await store.readStream(streamId)).length,
              events: [newEvent('Written', { turn })],
            })),
          );
          await store.append(appends);
        }),
      );
      await Promise.all(writers);
      for (const streamId of streams) expect(await store.readStream(streamId)).toHaveLength(12);
    });

    test('reads all events once, in pages, with each stream in order', async () => {
      const streams = await Promise.all(Array.from({ length: 20 }, () => filledStream(store, 3)));
      await untilVisible(store, streams);
      const seen = await readInPages(store, 7);
      for (const streamId of streams) {
        const versions = seen.filter((one) => one.streamId === streamId).map((one) => one.version);
        expect(versions).toEqual([1, 2, 3]);
      }
      expect(new Set(seen.map((event) => event.eventId)).size).toBe(seen.length);
    });

    test('reads the same events from the whole store and from its streams', async () => {
      const streamId = await filledStream(store, 2);
      await untilVisible(store, [streamId]);
      const seen = await store.readAll(startOfStore, 10_000);
      expect(seen.filter((event) => event.streamId === streamId)).toEqual(
        await store.readStream(streamId),
      );
      const last = seen.at(-1);
      expect(await store.readAll(last?.position ?? startOfStore, 10)).toEqual([]);
    });
  });
}

/** Retries the write after a conflict. */
async function retried(write: () => Promise<void>): Promise<void> {
  for (;;) {
    try {
      await write();
      return;
    } catch (error) {
      if (!(error instanceof VersionConflict)) throw error;
    }
  }
}

/** Waits until readers see the streams. Other open transactions in the store can hide new events for a while. */
async function untilVisible(store: EventStore, streams: readonly StreamId[]): Promise<void> {
  await vi.waitFor(
    async () => {
      const seen = new Set((await store.readAll(startOfStore, 10_000)).map((one) => one.streamId));
      expect(streams.filter((streamId) => !seen.has(streamId))).toEqual([]);
    },
    { timeout: 20_000, interval: 5 },
  );
}

async function readInPages(store: EventStore, size: number): Promise<readonly RecordedEvent[]> {
  const seen: RecordedEvent[] = [];
  for (let after = startOfStore; ;) {
    const page = await store.readAll(after, size);
    const last = page.at(-1);
    if (last === undefined) return seen;
    seen.push(...page);
    after = last.position;
  }
}

function newStream(): StreamId {
  return `test-${systemIds.next()}`;
}

async function filledStream(store: EventStore, count: number): Promise<StreamId> {
  const streamId = newStream();
  const events = Array.from({ length: count }, (_, index) => newEvent('Filled', { index }));
  await store.append([{ streamId, expectedVersion: 0, events }]);
  return streamId;
}

/** Builds an event with a unique ID and a default actor. */
export function newEvent(type: string, data: unknown): NewEvent {
  const commandId = mustParse(parseCommandId, systemIds.next());
  return {
    eventId: mustParse(parseEventId, systemIds.next()),
    type,
    schemaVersion: 1,
    data,
    metadata: {
      commandId,
      actor: { kind: 'system', name: 'setup' },
      ip: null,
      correlationId: commandId,
      causationId: null,
    },
  };
}
