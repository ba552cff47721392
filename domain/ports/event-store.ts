/** The interface of the event store. */
import type { NewEvent, Position, RecordedEvent, StreamId } from '#domain/kernel/event.ts';

/** Events to append to one stream. */
export interface StreamAppend {
  readonly streamId: StreamId;
  /** The expected version of the stream. 0 creates the stream. */
  readonly expectedVersion: number;
  readonly events: readonly NewEvent[];
}

/** Another writer has already appended to at least one of the streams. Nothing was appended. */
export class VersionConflict extends Error {
  /** The streams whose version differs from the expected version, with their current versions. */
  readonly conflicts: readonly { readonly streamId: string; readonly version: number }[];

  constructor(conflicts: readonly { readonly streamId: string; readonly version: number }[]) {
    super(`version conflict in ${conflicts.map((one) => one.streamId).join(', ')}`);
    this.name = 'VersionConflict';
    this.conflicts = conflicts;
  }
}

export interface EventStore {
  /** Appends to several streams atomically, and returns the events with their positions. A stream without new events
   *  is not checked.
   *  @throws VersionConflict if a stream has another version or is listed twice, or if an event ID already exists */
  append(streams: readonly StreamAppend[]): Promise<readonly RecordedEvent[]>;

  /** Returns the events of one stream in order, starting at `fromVersion` (default 1). The result is empty if the
   *  stream does not exist. */
  readStream(streamId: StreamId, fromVersion?: number): Promise<readonly RecordedEvent[]>;

  /** Returns at most `limit` events after `after`, in the order of the store. Never returns an event if an earlier
   *  event might still be committed. */
  readAll(after: Position, limit: number): Promise<readonly RecordedEvent[]>;
}
