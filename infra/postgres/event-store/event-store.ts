/** The event store on Postgres. The tables and the append function are defined in `migrations/0002_event_store.sql`. */
import type { EventMetadata, Position, RecordedEvent, StreamId } from '#domain/kernel/event.ts';
import { mustParse, parseEventId } from '#domain/kernel/ids.ts';
import type { Clock } from '#domain/ports/clock.ts';
import { VersionConflict, type EventStore, type StreamAppend } from '#domain/ports/event-store.ts';
import { upcast } from '#domain/upcasts.ts';
import type pg from 'pg';
import { sqlState } from '../connection.ts';
import type { Queryable } from '../database.ts';

const statements = {
  append: `SELECT stream, at_version, transaction, place FROM append_events(
    $1::text[], $2::text[], $3::bigint[], $4::bigint[], $5::text[], $6::bigint[], $7::uuid[],
    $8::text[], $9::integer[], $10::text[]::jsonb[], $11::text[]::jsonb[], $12)`,
  readStream: `SELECT * FROM events WHERE stream_id = $1 AND version >= $2 ORDER BY version`,
  // The row comparison alone determines the order. The bound on transaction IDs excludes events if an open transaction
  // could still add earlier ones.
  readAll: `SELECT * FROM events
    WHERE (transaction_id, global_position) > ($1::xid8, $2)
      AND transaction_id < pg_snapshot_xmin(pg_current_snapshot())
    ORDER BY transaction_id, global_position LIMIT $3`,
  readTypes: `SELECT * FROM events
    WHERE (transaction_id, global_position) > ($1::xid8, $2) AND type = ANY($4)
      AND ($5 OR transaction_id < pg_snapshot_xmin(pg_current_snapshot()))
    ORDER BY transaction_id, global_position LIMIT $3`,
  countAfter: `SELECT count(*)::int AS count FROM events WHERE recorded_at > $1`,
};

const versionConflict = 'OR409';
const uniqueViolation = '23505';

/** A row of the `events` table, as returned by the driver. */
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
    // A single statement is its own transaction.
    return appendEvents(this.#pool, streams, this.#clock.now());
  }

  readStream(streamId: StreamId, fromVersion = 1): Promise<readonly RecordedEvent[]> {
    return readStream(this.#pool, streamId, fromVersion);
  }

  readAll(after: Position, limit: number): Promise<readonly RecordedEvent[]> {
    return readAll(this.#pool, after, limit);
  }
}

/** Runs `EventStore.append` inside a transaction that the caller began. The statement has been sent when this function
 *  returns.
 *  @throws VersionConflict. The transaction can then only be rolled back */
export function appendEvents(
  db: Queryable,
  streams: readonly StreamAppend[],
  recordedAt: Date,
): Promise<readonly RecordedEvent[]> {
  const writing = streams.filter((stream) => stream.events.length > 0);
  if (writing.length === 0) return Promise.resolve([]);
  const events = writing.flatMap(({ streamId, expectedVersion, events: added }) =>
    added.map((event, index) => ({ ...event, streamId, version: expectedVersion + index + 1 })),
  );
  const values = [
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
  ];
  return db.query<PlaceRow>(statements.append, values).then(
    ({ rows }) => {
      const places = new Map(rows.map((row) => [`${row.stream} ${row.at_version}`, row]));
      return events.map((event) => {
        const row = places.get(`${event.streamId} ${event.version}`);
        if (row === undefined) throw new Error('the append did not return every event');
        const position = { transactionId: BigInt(row.transaction), globalPosition: row.place };
        return { ...event, position, recordedAt };
      });
    },
    (error: unknown) => {
      throw conflictOf(error, writing) ?? error;
    },
  );
}

/** The position of a recorded event. */
interface PlaceRow {
  readonly stream: string;
  readonly at_version: number;
  readonly transaction: string;
  readonly place: number;
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

/** Like `EventStore.readStream`, but on a given connection. */
export async function readStream(
  db: Queryable,
  streamId: StreamId,
  fromVersion: number,
): Promise<readonly RecordedEvent[]> {
  const { rows } = await db.query<EventRow>(statements.readStream, [streamId, fromVersion]);
  return rows.map(recorded);
}

/** Like `EventStore.readAll`, but on a given connection. */
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

/** Counts the events recorded after a time.
 *  @param time in RFC 3339 format */
export async function countEventsAfter(db: Queryable, time: string): Promise<number> {
  const { rows } = await db.query<{ count: number }>(statements.countAfter, [time]);
  return rows[0]?.count ?? 0;
}

export interface TypesRead {
  readonly types: readonly string[];
  readonly limit: number;
  /** Whether to include committed events that may still be preceded by events of open transactions. For callers that
   *  handle such gaps themselves. */
  readonly unsettled: boolean;
}

/** Like `readAll`, but only for the given event types. */
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

/** Converts a row to an event, upgraded to the current version. */
export function recorded(row: EventRow): RecordedEvent {
  return upcast({
    position: { transactionId: BigInt(row.transaction_id), globalPosition: row.global_position },
    streamId: row.stream_id as StreamId,
    version: row.version,
    eventId: mustParse(parseEventId, row.event_id),
    type: row.type,
    schemaVersion: row.schema_version,
    data: row.data,
    metadata: row.metadata,
    recordedAt: row.recorded_at,
  });
}
