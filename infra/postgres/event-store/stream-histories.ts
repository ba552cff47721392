/** Loads streams for folding, starting from each stream's last snapshot. */
import type { StreamId } from '#domain/kernel/event.ts';
import { noHistory, type History, type Snapshot } from '#domain/snapshots.ts';
import type { Queryable } from '../database.ts';
import { recorded, type EventRow } from './event-store.ts';

// Reads the snapshot and the later events in one statement, so that they are consistent. The inner ORDER BY makes the
// planner use the primary keys, regardless of its row estimates.
const statements = {
  read: `
    SELECT e.*, wanted.format, CASE WHEN e.version = s.version THEN s.state END AS state,
      CASE WHEN e.version = s.version THEN s.size END AS size
    FROM unnest($1::text[], $2::text[], $3::bigint[]) AS wanted (stream_id, format, until)
    LEFT JOIN LATERAL (
      SELECT kept.version, kept.state, kept.size
      FROM snapshots kept JOIN events last USING (stream_id, version, event_id)
      WHERE kept.stream_id = wanted.stream_id AND kept.format = wanted.format AND kept.version <= wanted.until
      ORDER BY kept.version DESC LIMIT 1) s ON true
    CROSS JOIN LATERAL (
      SELECT * FROM events WHERE events.stream_id = wanted.stream_id
        AND events.version >= coalesce(s.version, 1) AND events.version <= wanted.until
      ORDER BY events.version) e
    ORDER BY e.stream_id, e.version`,
  store: `WITH made AS (
      SELECT * FROM unnest($1::text[], $2::text[], $3::bigint[], $4::uuid[], $5::text[]::jsonb[],
        $6::integer[]) AS m (stream_id, format, version, event_id, state, size)
    ), outdated AS (
      DELETE FROM snapshots old USING made
      WHERE old.stream_id = made.stream_id AND old.format <> made.format AND EXISTS (
        SELECT FROM snapshots own
        WHERE own.stream_id = made.stream_id AND own.format = made.format))
    INSERT INTO snapshots (stream_id, format, version, event_id, state, size) SELECT * FROM made
    ON CONFLICT (stream_id, format, version) DO UPDATE
    SET event_id = excluded.event_id, state = excluded.state, size = excluded.size`,
};

/** A stream to read, and the required format of its snapshot. */
export interface Wanted {
  readonly streamId: StreamId;
  readonly format: string;
  /** The version of the last event to read. By default, all events are read. */
  readonly until?: number | undefined;
}

type Row = EventRow & {
  readonly format: string;
  readonly state: unknown;
  readonly size: number | null;
};

/** Reads several streams. Each stream must be given once. Streams that do not exist are omitted from the result. */
export async function readHistories(
  db: Queryable,
  wanted: readonly Wanted[],
): Promise<ReadonlyMap<string, History>> {
  const { rows } = await db.query<Row>(statements.read, [
    wanted.map(({ streamId }) => streamId),
    wanted.map(({ format }) => format),
    wanted.map(({ until = Number.MAX_SAFE_INTEGER }) => until),
  ]);
  const streams = Map.groupBy(rows, (row) => row.stream_id);
  return new Map([...streams].map(([streamId, found]) => [streamId, historyOf(found)]));
}

function historyOf(rows: readonly Row[]): History {
  const [first] = rows;
  const [last, ...later] = rows.map(recorded);
  if (first === undefined || last === undefined) return noHistory;
  const { format, state, size } = first;
  return size === null
    ? { events: [last, ...later] }
    : { from: { format, last, state, size }, events: later };
}

/** Stores snapshots. Deletes snapshots of the same streams in other formats, except when a stream gets its first
 *  snapshot. Otherwise, two releases that run at the same time would replace each other's snapshots at every
 *  command. */
export async function storeSnapshots(db: Queryable, made: readonly Snapshot[]): Promise<void> {
  if (made.length === 0) return;
  await db.query(statements.store, [
    made.map(({ last }) => last.streamId),
    made.map(({ format }) => format),
    made.map(({ last }) => last.version),
    made.map(({ last }) => last.eventId),
    made.map(({ state }) => JSON.stringify(state)),
    made.map(({ size }) => size),
  ]);
}
