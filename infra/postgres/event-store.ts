/** The event store on Postgres: see `migrations/0002_event_store.sql` for the tables and the stored
 *  append function. */
import {
  isAfter,
  startOfStore,
  type EventMetadata,
  type Position,
  type RecordedEvent,
  type StreamId,
} from '#domain/kernel/event.ts';
import { known, parseEventId } from '#domain/kernel/ids.ts';
import type { Clock } from '#domain/ports/clock.ts';
import { VersionConflict, type EventStore, type StreamAppend } from '#domain/ports/event-store.ts';
import { upcast } from '#domain/upcasts.ts';
import type pg from 'pg';
import { sqlState, type Queryable } from './database.ts';

const statements = {
  append: `SELECT stream, at_version, transaction, place FROM append_events(
    $1::text[], $2::text[], $3::bigint[], $4::bigint[], $5::text[], $6::bigint[], $7::uuid[],
    $8::text[], $9::integer[], $10::text[]::jsonb[], $11::text[]::jsonb[], $12)`,
  readStream: `SELECT * FROM events WHERE stream_id = $1 AND version >= $2 ORDER BY version`,
  // The row comparison alone decides the order; the bound on transactions keeps out whatever an
  // earlier, still open transaction could put before it.
  readAll: `SELECT * FROM events
    WHERE (transaction_id, global_position) > ($1::xid8, $2)
      AND transaction_id < pg_snapshot_xmin(pg_current_snapshot())
    ORDER BY transaction_id, global_position LIMIT $3`,
  newest: `SELECT transaction_id, global_position FROM events
    ORDER BY transaction_id DESC, global_position DESC LIMIT 1`,
  chunkEnd: `SELECT transaction_id, global_position FROM (
      SELECT transaction_id, global_position FROM events
      WHERE (transaction_id, global_position) > ($1::xid8, $2)
        AND transaction_id < pg_snapshot_xmin(pg_current_snapshot())
      ORDER BY transaction_id, global_position LIMIT $3) chunk
    ORDER BY transaction_id DESC, global_position DESC LIMIT 1`,
  chunk: `WITH chunk AS MATERIALIZED (
      SELECT transaction_id, global_position FROM events
      WHERE (transaction_id, global_position) > ($1::xid8, $2)
        AND transaction_id < pg_snapshot_xmin(pg_current_snapshot())
      ORDER BY transaction_id, global_position LIMIT $3)
    SELECT transaction_id, global_position, (SELECT count(*) FROM chunk) AS seen FROM chunk
    ORDER BY transaction_id DESC, global_position DESC LIMIT 1`,
  readTypes: `SELECT * FROM events
    WHERE (transaction_id, global_position) > ($1::xid8, $2) AND type = ANY($4)
      AND ($5 OR transaction_id < pg_snapshot_xmin(pg_current_snapshot()))
    ORDER BY transaction_id, global_position LIMIT $3`,
};

const versionConflict = 'OR409';
const uniqueViolation = '23505';

/** A row of `events`, as the driver gives it. */
export interface EventRow {
  global_position: number;
  transaction_id: string;
  stream_id: string;
  version: number;
  event_id: string;
  type: string;
  schema_version: number;
  data: unknown;
  metadata: EventMetadata;
  recorded_at: Date;
}

export class PostgresEventStore implements EventStore {
  readonly #pool: pg.Pool;
  readonly #clock: Clock;

  constructor(pool: pg.Pool, clock: Clock) {
    this.#pool = pool;
    this.#clock = clock;
  }

  append(streams: readonly StreamAppend[]): Promise<readonly RecordedEvent[]> {
    // One statement is a transaction of its own.
    return appendEvents(this.#pool, streams, this.#clock.now());
  }

  readStream(streamId: StreamId, fromVersion = 1): Promise<readonly RecordedEvent[]> {
    return readStream(this.#pool, streamId, fromVersion);
  }

  readAll(after: Position, limit: number): Promise<readonly RecordedEvent[]> {
    return readAll(this.#pool, after, limit);
  }
}

/** `EventStore.append` inside a transaction that the caller began.
 *  @throws VersionConflict after which that transaction can only be rolled back */
export async function appendEvents(
  db: Queryable,
  streams: readonly StreamAppend[],
  recordedAt: Date,
): Promise<readonly RecordedEvent[]> {
  const writing = streams.filter((stream) => stream.events.length > 0);
  if (writing.length === 0) return [];
  const events = writing.flatMap(({ streamId, expectedVersion, events: added }) =>
    added.map((event, index) => ({ ...event, streamId, version: expectedVersion + index + 1 })),
  );
  const { rows } = await db
    .query<{ stream: string; at_version: number; transaction: string; place: number }>(
      statements.append,
      [
        writing.map((one) => one.streamId),
        writing.map((one) => one.streamId.slice(0, one.streamId.indexOf('-'))),
        writing.map((one) => one.expectedVersion),
        writing.map((one) => one.events.length),
        events.map((one) => one.streamId),
        events.map((one) => one.version),
        events.map((one) => one.eventId),
        events.map((one) => one.type),
        events.map((one) => one.schemaVersion),
        events.map((one) => JSON.stringify(one.data)),
        events.map((one) => JSON.stringify(one.metadata)),
        recordedAt,
      ],
    )
    .catch((error: unknown) => {
      throw conflictOf(error, writing) ?? error;
    });
  const places = new Map(rows.map((row) => [`${row.stream} ${row.at_version}`, row]));
  return events.map((event) => {
    const row = places.get(`${event.streamId} ${event.version}`);
    if (row === undefined) throw new Error('the append did not answer for every event');
    const position = { transactionId: BigInt(row.transaction), globalPosition: row.place };
    return { ...event, position, recordedAt };
  });
}

function conflictOf(error: unknown, streams: readonly StreamAppend[]): VersionConflict | undefined {
  const state = sqlState(error);
  if (state === versionConflict) {
    const detail = (error as pg.DatabaseError).detail ?? '[]';
    const conflicts = JSON.parse(detail) as { stream_id: string; version: number }[];
    return new VersionConflict(
      conflicts.map((one) => ({ streamId: one.stream_id, version: one.version })),
    );
  }
  if (state === uniqueViolation && (error as pg.DatabaseError).table === 'events') {
    return new VersionConflict(
      streams.map((one) => ({ streamId: one.streamId, version: one.expectedVersion })),
    );
  }
  return undefined;
}

/** `EventStore.readStream` on any connection. */
export async function readStream(
  db: Queryable,
  streamId: StreamId,
  fromVersion: number,
): Promise<readonly RecordedEvent[]> {
  const { rows } = await db.query<EventRow>(statements.readStream, [streamId, fromVersion]);
  return rows.map(recorded);
}

/** `EventStore.readAll` on any connection. */
export async function readAll(
  db: Queryable,
  after: Position,
  limit: number,
): Promise<readonly RecordedEvent[]> {
  const { rows } = await db.query<EventRow>(statements.readAll, [
    after.transactionId.toString(),
    after.globalPosition,
    limit,
  ]);
  return rows.map(recorded);
}

/** Place of the newest event; the start of an empty store. */
export async function newestPlace(db: Queryable): Promise<Position> {
  return placeOf(await db.query<PlaceRow>(statements.newest, [])) ?? startOfStore;
}

/** Place of the last of the next `size` events that `readAll` would give. */
export async function chunkEnd(
  db: Queryable,
  after: Position,
  size: number,
): Promise<Position | undefined> {
  const { transactionId, globalPosition } = after;
  const values = [transactionId.toString(), globalPosition, size];
  return placeOf(await db.query<PlaceRow>(statements.chunkEnd, values));
}

type PlaceRow = Pick<EventRow, 'transaction_id' | 'global_position'>;

function placeOf({ rows: [row] }: { readonly rows: readonly PlaceRow[] }): Position | undefined {
  return row && { transactionId: BigInt(row.transaction_id), globalPosition: row.global_position };
}

/** What a reader of some types has next. */
export interface Chunk {
  readonly events: readonly RecordedEvent[];
  /** Where it stands once it is done with them. */
  readonly end: Position;
  /** How many there were of all types; less than was asked for at the end of the store. */
  readonly seen: number;
}

/** The events of some types among the next `size` that `readAll` would give; the others are passed
 *  without being fetched. `undefined` when there is none of any type. */
export async function readChunk(
  db: Queryable,
  after: Position,
  types: readonly string[],
  size: number,
): Promise<Chunk | undefined> {
  const { transactionId, globalPosition } = after;
  const values = [transactionId.toString(), globalPosition, size];
  const { rows } = await db.query<PlaceRow & { seen: number }>(statements.chunk, values);
  const [row] = rows;
  const end = placeOf({ rows });
  if (row === undefined || end === undefined) return undefined;
  const found = await readTypes(db, after, { types, limit: size, unsettled: false });
  const events = found.filter(({ position }) => !isAfter(position, end));
  return { events, end, seen: row.seen };
}

export interface TypesRead {
  readonly types: readonly string[];
  readonly limit: number;
  /** Also what was committed while an earlier event could still appear. For whoever keeps such events
   *  from being appended meanwhile. */
  readonly unsettled: boolean;
}

/** `readAll`, of some types alone. */
export async function readTypes(
  db: Queryable,
  after: Position,
  { types, limit, unsettled }: TypesRead,
): Promise<readonly RecordedEvent[]> {
  const { rows } = await db.query<EventRow>(statements.readTypes, [
    after.transactionId.toString(),
    after.globalPosition,
    limit,
    types,
    unsettled,
  ]);
  return rows.map(recorded);
}

/** The event of a row, in the shape of today. */
export function recorded(row: EventRow): RecordedEvent {
  return upcast({
    position: { transactionId: BigInt(row.transaction_id), globalPosition: row.global_position },
    streamId: row.stream_id as StreamId,
    version: row.version,
    eventId: known(parseEventId, row.event_id),
    type: row.type,
    schemaVersion: row.schema_version,
    data: row.data,
    metadata: row.metadata,
    recordedAt: row.recorded_at,
  });
}
