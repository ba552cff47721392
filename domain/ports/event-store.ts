/** What the domain needs of its event store. */
import type { NewEvent, Position, RecordedEvent, StreamId } from '#domain/kernel/event.ts';

/** Events for one stream. */
export interface StreamAppend {
  readonly streamId: StreamId;
  /** Events already in the stream; 0 makes a new one. */
  readonly expectedVersion: number;
  readonly events: readonly NewEvent[];
}

/** Another writer was first in at least one stream: nothing was appended. */
export class VersionConflict extends Error {
  /** Streams that were not where the writer expected them, with where they are. */
  readonly conflicts: readonly { readonly streamId: string; readonly version: number }[];

  constructor(conflicts: readonly { readonly streamId: string; readonly version: number }[]) {
    super(`version conflict in ${conflicts.map((one) => one.streamId).join(', ')}`);
    this.name = 'VersionConflict';
    this.conflicts = conflicts;
  }
}

export interface EventStore {
  /** Appends to several streams, all or none, and gives the events back with their places. A stream
   *  that is to get no events is not looked at.
   *  @throws VersionConflict when a stream is not at its expected version or is named twice, or an
   *  event id exists */
  append(streams: readonly StreamAppend[]): Promise<readonly RecordedEvent[]>;

  /** The events of one stream in order, from `fromVersion` (default 1); empty when there is none. */
  readStream(streamId: StreamId, fromVersion?: number): Promise<readonly RecordedEvent[]>;

  /** At most `limit` events after `after`, in the order of the store. Never shows an event while an
   *  earlier one could still appear. */
  readAll(after: Position, limit: number): Promise<readonly RecordedEvent[]>;
}
