import type { RecordedEvent } from '#domain/kernel/event.ts';

/** The position of the newest message in a feed. */
export interface FeedEnd {
  /** Sequence number of the newest message. 0 for a new feed. */
  readonly sequence: number;
  /** Event ID of the newest message. `undefined` if the feed contains no messages. */
  readonly eventId: string | undefined;
}

/** Publishes events to other programs, in the order of the store. A feed retains events for a limited time and may
 *  lose events. */
export interface EventFeed {
  /** Tells the operator why the feed is unavailable. `undefined` while the feed is available. */
  readonly problem: string | undefined;
  /** Returns the end of the feed, or `undefined` if it is unknown. */
  end(): Promise<FeedEnd | undefined>;
  /** Appends events after `end`.
   *  @returns false if not all events were appended, because another process has appended events after `end` or the
   *  feed does not exist */
  append(end: FeedEnd, events: readonly RecordedEvent[]): Promise<boolean>;
}
