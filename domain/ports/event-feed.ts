import type { RecordedEvent } from '#domain/kernel/event.ts';

/** The end of a feed. */
export interface FeedEnd {
  /** Sequence number of the newest message; 0 for a new feed. */
  readonly sequence: number;
  /** Event ID of the newest message; `undefined` if the feed holds no message. */
  readonly eventId: string | undefined;
}

/** Publishes events to other programs, in the order of the store. A feed retains events for a limited time and may
 *  lose events. */
export interface EventFeed {
  /** Why the feed is unavailable, as a message for the operator; `undefined` while it works. */
  readonly problem: string | undefined;
  /** `undefined` while the end is unknown. */
  end(): Promise<FeedEnd | undefined>;
  /** Appends events after `end`.
   *  @returns false unless all events were appended: another process has appended events after `end`, or the feed does
   *  not exist */
  append(end: FeedEnd, events: readonly RecordedEvent[]): Promise<boolean>;
}
