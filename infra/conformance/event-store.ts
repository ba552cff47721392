/** What every adapter of the event store keeps. */
import { startOfStore, type NewEvent, type StreamId } from '#domain/kernel/event.ts';
import { known, parseCommandId, parseEventId } from '#domain/kernel/ids.ts';
import { VersionConflict, type EventStore } from '#domain/ports/event-store.ts';
import { systemIds } from '#infra/system/ids.ts';
import { beforeAll, describe, expect, test } from 'vitest';

/** @param open an empty store */
export function eventStoreConformance(name: string, open: () => Promise<EventStore>): void {
  describe(`${name}: the event store`, () => {
    let store: EventStore;
    beforeAll(async () => {
      store = await open();
    });

    test('given events in a stream, then it reads them back as they were, in order', async () => {
      const streamId = newStream();
      const events = [newEvent('First', { text: 'é\u2028"\\' }), newEvent('Second', { n: [1, null] })];
      const [recorded] = [await store.append([{ streamId, expectedVersion: 0, events }])];
      const read = await store.readStream(streamId);
      expect(read).toEqual(recorded);
      expect(read.map(({ type, data, version }) => ({ type, data, version }))).toEqual([
        { type: 'First', data: { text: 'é\u2028"\\' }, version: 1 },
        { type: 'Second', data: { n: [1, null] }, version: 2 },
      ]);
    });

    test('given a stream, then it can be read from a version on', async () => {
      const streamId = await filledStream(store, 3);
      expect((await store.readStream(streamId, 3)).map((event) => event.version)).toEqual([3]);
      expect(await store.readStream(newStream())).toEqual([]);
    });

    test('when another writer was first, then nothing is written and the conflict is named', async () => {
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

    test('when a new stream is there already or an old one is not, then it is a conflict', async () => {
      const taken = await filledStream(store, 1);
      const events = [newEvent('Lost', {})];
      await expect(
        store.append([{ streamId: taken, expectedVersion: 0, events }]),
      ).rejects.toThrow(VersionConflict);
      await expect(
        store.append([{ streamId: newStream(), expectedVersion: 4, events }]),
      ).rejects.toThrow(VersionConflict);
    });

    test('when an event is appended twice, then the second time is a conflict', async () => {
      const event = newEvent('Once', {});
      await store.append([{ streamId: newStream(), expectedVersion: 0, events: [event] }]);
      await expect(
        store.append([{ streamId: newStream(), expectedVersion: 0, events: [event] }]),
      ).rejects.toThrow(VersionConflict);
    });

    test('when fifty writers race for one version, then exactly one wins', async () => {
      const streamId = await filledStream(store, 1);
      const results = await Promise.allSettled(
        Array.from({ length: 50 }, () =>
          store.append([{ streamId, expectedVersion: 1, events: [newEvent('Raced', {})] }]),
        ),
      );
      expect(results.filter((result) => result.status === 'fulfilled')).toHaveLength(1);
      expect(await store.readStream(streamId)).toHaveLength(2);
    });

    test('then all events are read once, in pages, in an order that keeps every stream', async () => {
      const streams = await Promise.all(Array.from({ length: 20 }, () => filledStream(store, 3)));
      const seen: { streamId: StreamId; version: number }[] = [];
      let after = startOfStore;
      for (let page = await store.readAll(after, 7); page.length > 0; ) {
        seen.push(...page);
        after = page.at(-1)?.position ?? after;
        page = await store.readAll(after, 7);
      }
      for (const streamId of streams) {
        const versions = seen.filter((one) => one.streamId === streamId).map((one) => one.version);
        expect(versions).toEqual([1, 2, 3]);
      }
    });
  });
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

/** An event with an id of its own, caused by nobody in particular. */
export function newEvent(type: string, data: unknown): NewEvent {
  const commandId = known(parseCommandId, systemIds.next());
  return {
    eventId: known(parseEventId, systemIds.next()),
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
