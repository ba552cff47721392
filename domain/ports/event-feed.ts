import type { RecordedEvent } from '#domain/kernel/event.ts';

/** Where a feed ends. */
export interface FeedEnd {
  /** Of the newest message; 0 where there has never been one. */
  readonly sequence: number;
  /** Of the newest message; `undefined` where none is kept. */
  readonly eventId: string | undefined;
}

/** The events for other programs, in the order of the store. A feed keeps what it was given for a while,
 *  and may lose it. */
export interface EventFeed {
  /** Why nothing can be added at present, in words for the operator; `undefined` while it can. */
  readonly problem: string | undefined;
  /** `undefined` while that cannot be told. */
  end(): Promise<FeedEnd | undefined>;
  /** Adds events behind that end.
   *  @returns false where not all were added: somebody else was first, or the feed is not there */
  append(end: FeedEnd, events: readonly RecordedEvent[]): Promise<boolean>;
}
