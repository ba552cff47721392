/** Publishes events to the event feed, in the order of the event store. */
import type { Position } from '#domain/kernel/event.ts';
import type { EventFeed } from '#domain/ports/event-feed.ts';
import type { Queryable } from '../database.ts';
import { newestPlace, placeOfEvent } from '../event-store/event-chunks.ts';
import { readAll } from '../event-store/event-store.ts';
import { makeCheckpoint, readCheckpoint, removeCheckpoint, setCheckpoint } from './checkpoints.ts';

/** The name of the feeder's checkpoint. */
export const feederName = 'event feed';
const version = 1;
const chunkSize = 200;

export class Feeder {
  readonly #db: Queryable;
  readonly #feed: EventFeed;

  private constructor(db: Queryable, feed: EventFeed) {
    this.#db = db;
    this.#feed = feed;
  }

  /** A new feed starts with the next recorded event. */
  static async open(db: Queryable, feed: EventFeed): Promise<Feeder> {
    await makeCheckpoint(db, feederName, version, await newestPlace(db));
    return new Feeder(db, feed);
  }

  /** Runs one round, which starts after the last event in the feed. Concurrent feeders and failed rounds are therefore
   *  harmless. If the feed is empty, the round starts at the checkpoint.
   *  @returns whether more events can be published immediately */
  async runOnce(signal: AbortSignal): Promise<boolean> {
    const noted = await readCheckpoint(this.#db, feederName);
    if ((await readAll(this.#db, noted, 1)).length === 0) return false;
    const end = await this.#feed.end();
    if (end === undefined || signal.aborted) return false;
    const after = (await this.#placeOf(end.eventId)) ?? noted;
    const events = await readAll(this.#db, after, chunkSize);
    const last = events.at(-1)?.position ?? after;
    if (events.length > 0 && !(await this.#feed.append(end, events))) return false;
    await setCheckpoint(this.#db, feederName, version, last);
    return events.length === chunkSize;
  }

  async #placeOf(eventId: string | undefined): Promise<Position | undefined> {
    return eventId === undefined ? undefined : await placeOfEvent(this.#db, eventId);
  }
}

/** Removes the checkpoint when the feed is disabled, so that no lag is reported. A feed that is enabled later starts
 *  empty. */
export async function forgetFeeder(db: Queryable): Promise<void> {
  await removeCheckpoint(db, feederName);
}
