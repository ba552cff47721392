/** The event store that the domain requires. */
import type { NewEvent, Position, RecordedEvent, StreamId } from '#domain/kernel/event.ts';

/** Events to append to one stream. */
export interface StreamAppend {
  readonly streamId: StreamId;
  /** The expected version of the stream; 0 creates the stream. */
  readonly expectedVersion: number;
  readonly events: readonly NewEvent[];
}

/** Another writer appended to at least one stream first. Nothing was appended. */
export class VersionConflict extends Error {
  /** The streams with an unexpected version, with their current versions. */
  readonly conflicts: readonly { readonly streamId: string; readonly version: number }[];

  constructor(conflicts: readonly { readonly streamId: string; readonly version: number }[]) {
    super(`version conflict in ${conflicts.map((one) => one.streamId).join(', ')}`);
    this.name = 'VersionConflict';
    this.conflicts = conflicts;
  }
}

export interface EventStore {
  /** Appends to several streams atomically, and returns the events with their positions. A stream without new
   *  events is not checked.
   *  @throws VersionConflict if a stream has another version or is named twice, or an event ID exists */
  append(streams: readonly StreamAppend[]): Promise<readonly RecordedEvent[]>;

  /** The events of one stream in order, from `fromVersion` (default 1); empty if the stream does not exist. */
  readStream(streamId: StreamId, fromVersion?: number): Promise<readonly RecordedEvent[]>;

  /** At most `limit` events after `after`, in the order of the store. Never returns an event while an earlier one
   *  could still become visible. */
  readAll(after: Position, limit: number): Promise<readonly RecordedEvent[]>;
}
