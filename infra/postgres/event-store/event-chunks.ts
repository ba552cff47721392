/** Reads the event store in chunks. Readers can skip irrelevant events without fetching them. */
import { isAfter, startOfStore, type Position, type RecordedEvent } from '#domain/kernel/event.ts';
import type { Queryable } from '../database.ts';
import { readTypes, recorded, type EventRow } from './event-store.ts';

const statements = {
  newest: `SELECT transaction_id, global_position FROM events
    ORDER BY transaction_id DESC, global_position DESC LIMIT 1`,
  place: `SELECT transaction_id, global_position FROM events WHERE event_id = $1`,
  next: `WITH chunk AS MATERIALIZED (
      SELECT transaction_id, global_position FROM events
      WHERE (transaction_id, global_position) > ($1::xid8, $2)
        AND transaction_id < pg_snapshot_xmin(pg_current_snapshot())
      ORDER BY transaction_id, global_position LIMIT $3)
    SELECT transaction_id, global_position, (SELECT count(*) FROM chunk) AS seen FROM chunk
    ORDER BY transaction_id DESC, global_position DESC LIMIT 1`,
  continued: `WITH chunk AS (SELECT * FROM events
      WHERE (transaction_id, global_position) > ($1::xid8, $2)
        AND (transaction_id, global_position) <= ($3::xid8, $4) AND type = ANY($5))
    SELECT * FROM chunk WHERE stream_id NOT IN (SELECT stream_id FROM chunk WHERE version = 1)
    ORDER BY transaction_id, global_position`,
};

type PlaceRow = Pick<EventRow, 'transaction_id' | 'global_position'>;

/** A range of consecutive events of any type. */
export interface Chunk {
  /** The position of a reader that has processed the chunk. */
  readonly end: Position;
  /** The number of events. Fewer than requested at the end of the store. */
  readonly seen: number;
}

/** Returns the chunk of at most `size` events that `readAll` would return, without fetching the events.
 *  @returns `undefined` if there are no more events */
export async function nextChunk(
  db: Queryable,
  after: Position,
  size: number,
): Promise<Chunk | undefined> {
  const values = [after.transactionId.toString(), after.globalPosition, size];
  const { rows } = await db.query<PlaceRow & { seen: number }>(statements.next, values);
  const [row] = rows;
  return row && { end: placeOf(row), seen: row.seen };
}

/** Returns the next chunk, with only the events of the given types. Other events are not fetched. */
export async function readChunk(
  db: Queryable,
  after: Position,
  types: readonly string[],
  size: number,
): Promise<(Chunk & { readonly events: readonly RecordedEvent[] }) | undefined> {
  const chunk = await nextChunk(db, after, size);
  if (chunk === undefined) return undefined;
  const found = await readTypes(db, after, { types, limit: size, unsettled: false });
  return { ...chunk, events: found.filter(({ position }) => !isAfter(position, chunk.end)) };
}

/** Returns the events of the given types after `from` and up to `to`. Streams created in this range are omitted. */
export async function readContinued(
  db: Queryable,
  from: Position,
  to: Position,
  types: readonly string[],
): Promise<readonly RecordedEvent[]> {
  const places = [from, to].flatMap((one) => [one.transactionId.toString(), one.globalPosition]);
  const { rows } = await db.query<EventRow>(statements.continued, [...places, types]);
  return rows.map(recorded);
}

/** Returns the position of the newest event. For an empty store, returns the start. */
export async function newestPlace(db: Queryable): Promise<Position> {
  const { rows } = await db.query<PlaceRow>(statements.newest, []);
  const [row] = rows;
  return row === undefined ? startOfStore : placeOf(row);
}

/** Returns the position of an event, or `undefined` if the event does not exist. */
export async function placeOfEvent(db: Queryable, eventId: string): Promise<Position | undefined> {
  const { rows } = await db.query<PlaceRow>(statements.place, [eventId]);
  return rows[0] && placeOf(rows[0]);
}

function placeOf(row: PlaceRow): Position {
  return { transactionId: BigInt(row.transaction_id), globalPosition: row.global_position };
}
