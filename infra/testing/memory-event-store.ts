/** An in-memory event store, for tests and as the simplest implementation of the port. */
import { isAfter, type Position, type RecordedEvent, type StreamId } from '#domain/kernel/event.ts';
import type { Clock } from '#domain/ports/clock.ts';
import { VersionConflict, type EventStore, type StreamAppend } from '#domain/ports/event-store.ts';

export class MemoryEventStore implements EventStore {
  readonly #clock: Clock;
  readonly #events: RecordedEvent[] = [];

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  append(streams: readonly StreamAppend[]): Promise<readonly RecordedEvent[]> {
    const writing = streams.filter((stream) => stream.events.length > 0);
    const conflicts = writing
      .map(({ streamId, expectedVersion }) => ({
        streamId,
        expectedVersion,
        version: this.#versionOf(streamId),
      }))
      .filter(({ version, expectedVersion }) => version !== expectedVersion);
    if (conflicts.length > 0) return Promise.reject(new VersionConflict(conflicts));
    if (this.#repeats(writing)) return Promise.reject(new VersionConflict([]));
    const transactionId = BigInt(this.#events.length + 1);
    const recordedAt = this.#clock.now();
    const added = writing.flatMap(({ streamId, expectedVersion, events }) =>
      events.map((event, index) => ({ ...event, streamId, version: expectedVersion + index + 1 })),
    );
    const recorded = added.map((event, index) => ({
      ...structuredClone(event),
      recordedAt,
      position: { transactionId, globalPosition: this.#events.length + index + 1 },
    }));
    this.#events.push(...recorded);
    return Promise.resolve(recorded);
  }

  readStream(streamId: StreamId, fromVersion = 1): Promise<readonly RecordedEvent[]> {
    return Promise.resolve(
      this.#events.filter((event) => event.streamId === streamId && event.version >= fromVersion),
    );
  }

  readAll(after: Position, limit: number): Promise<readonly RecordedEvent[]> {
    const later = this.#events.filter((event) => isAfter(event.position, after));
    return Promise.resolve(later.slice(0, limit));
  }

  #versionOf(streamId: StreamId): number {
    return this.#events.findLast((event) => event.streamId === streamId)?.version ?? 0;
  }

  /** Whether a stream occurs twice, or an event already exists. */
  #repeats(streams: readonly StreamAppend[]): boolean {
    const added = streams.flatMap((stream) => stream.events.map((event) => event.eventId));
    const known = new Set(this.#events.map((event) => event.eventId));
    return (
      new Set(streams.map((stream) => stream.streamId)).size < streams.length ||
      new Set(added).size < added.length ||
      added.some((eventId) => known.has(eventId))
    );
  }
}
