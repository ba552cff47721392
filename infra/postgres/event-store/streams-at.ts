/** Reads streams at a point in time: their versions and single events. */
import type { Actor } from '#domain/kernel/actor.ts';
import type { RecordedEvent, StreamId } from '#domain/kernel/event.ts';
import type { Queryable } from '../database.ts';
import { recorded, type EventRow } from './event-store.ts';

const statements = {
  // Waits for current writers. Writers lock the stream before they read the clock, and release the lock at commit. The
  // shared locks acquired here are released as soon as this transaction ends.
  settle: `SELECT pg_advisory_xact_lock_shared(hashtextextended(stream_id, 0))
    FROM (SELECT unnest($1::text[]) AS stream_id ORDER BY 1) streams`,
  // Versions have no gaps, so a binary search finds the last event. The search needs about thirty key lookups,
  // regardless of the stream's length.
  versionsAt: `SELECT streams.stream_id, (WITH RECURSIVE search (step, version) AS (
      SELECT 1073741824::bigint, 0::bigint
      UNION ALL
      SELECT step / 2, version + CASE WHEN EXISTS (
          SELECT FROM events e
          WHERE e.stream_id = streams.stream_id AND e.version = search.version + step
            AND e.global_position <= coalesce($2::bigint, e.global_position)
            AND e.recorded_at <= coalesce($3::timestamptz, e.recorded_at)) THEN step ELSE 0 END
      FROM search WHERE step > 0)
    SELECT version FROM search WHERE step = 0) AS version
    FROM unnest($1::text[]) AS streams (stream_id)`,
  // IDs of one type share a prefix, so they sort together under any collation.
  streamsAt: `SELECT s.stream_id FROM streams s
    WHERE s.stream_id > $1 AND s.stream_id <= $2 AND s.stream_type = $3 AND EXISTS (
      SELECT FROM events e WHERE e.stream_id = s.stream_id AND e.version = 1
        AND e.global_position <= coalesce($4::bigint, e.global_position)
        AND e.recorded_at <= coalesce($5::timestamptz, e.recorded_at))
    ORDER BY s.stream_id LIMIT $6`,
  // Events that change a script contain the script's new version.
  beforeVersion: `SELECT min(version) - 1 AS version FROM events
    WHERE stream_id = $1 AND (data ->> 'version')::int > $2`,
  changes: `SELECT s.stream_id, min(recorded_at) AS since,
      (array_agg(e.metadata -> 'actor' ORDER BY e.version DESC))[1] AS actor
    FROM unnest($1::text[], $2::integer[]) AS s (stream_id, script_version)
      JOIN events e ON e.stream_id = s.stream_id AND (e.data ->> 'version')::integer > s.script_version
    GROUP BY s.stream_id`,
  firsts: `SELECT * FROM events WHERE stream_id = ANY($1::text[]) AND version = 1`,
  lasts: `SELECT last.* FROM unnest($1::text[]) AS wanted (stream_id), LATERAL (
      SELECT * FROM events e WHERE e.stream_id = wanted.stream_id AND e.type = ANY($2::text[])
        AND e.global_position <= coalesce($3::bigint, e.global_position)
        AND e.recorded_at <= coalesce($4::timestamptz, e.recorded_at)
      ORDER BY e.version DESC LIMIT 1) last`,
  versions: `SELECT * FROM events WHERE stream_id = $1 AND version = ANY($2::bigint[])`,
  backwards: `SELECT * FROM events WHERE stream_id = $1 AND version < $2
    ORDER BY version DESC LIMIT $3`,
};

/** An inclusive point in time: either a time, or the global position of an event. */
export type Moment =
  | { readonly kind: 'time'; readonly time: Date }
  | { readonly kind: 'position'; readonly position: number };

/**
 * Returns the number of events in each stream at a point in time. Waits for current writers. The result is therefore
 * final if the point in time has passed and no clock is set back.
 */
export async function versionsAt(
  db: Queryable,
  streamIds: readonly StreamId[],
  moment: Moment,
): Promise<ReadonlyMap<string, number>> {
  if (streamIds.length === 0) return new Map();
  await db.query(statements.settle, [streamIds]);
  const { rows } = await db.query<{ stream_id: string; version: number }>(statements.versionsAt, [
    streamIds,
    ...boundsOf(moment),
  ]);
  return new Map(rows.map((row) => [row.stream_id, row.version]));
}

const [firstId, lastId] = [
  '00000000-0000-0000-0000-00000000000',
  'ffffffff-ffff-ffff-ffff-ffffffffffff',
];

/** Returns streams of one type that existed at a point in time, ordered by ID.
 *  @param after the ID to start after
 *  @param limit the maximum number of streams */
export async function streamsAt(
  db: Queryable,
  type: string,
  moment: Moment,
  { after = firstId, limit }: { readonly after?: string | undefined; readonly limit: number },
): Promise<readonly StreamId[]> {
  const { rows } = await db.query<{ stream_id: StreamId }>(statements.streamsAt, [
    `${type}-${after}`,
    `${type}-${lastId}`,
    type,
    ...boundsOf(moment),
    limit,
  ]);
  return rows.map((row) => row.stream_id);
}

/**
 * Returns the number of events in a script's stream at the last moment when the script had the version `scriptVersion`.
 * @returns `undefined` if the script has no later version
 */
export async function streamVersionOf(
  db: Queryable,
  streamId: StreamId,
  scriptVersion: number,
): Promise<number | undefined> {
  const values = [streamId, scriptVersion];
  const { rows } = await db.query<{ version: number | null }>(statements.beforeVersion, values);
  return rows[0]?.version ?? undefined;
}

/** Returns when each script was first changed after a version, and who changed it last, by stream. */
export async function changesSince(
  db: Queryable,
  versions: ReadonlyMap<StreamId, number>,
): Promise<ReadonlyMap<string, { readonly since: Date; readonly actor: Actor }>> {
  if (versions.size === 0) return new Map();
  const { rows } = await db.query<{ stream_id: string; since: Date; actor: Actor }>(
    statements.changes,
    [[...versions.keys()], [...versions.values()]],
  );
  return new Map(rows.map(({ stream_id: id, ...change }) => [id, change]));
}

/** Returns the first event of each stream. */
export async function firstEvents(
  db: Queryable,
  streamIds: readonly StreamId[],
): Promise<ReadonlyMap<string, RecordedEvent>> {
  const { rows } = await db.query<EventRow>(statements.firsts, [streamIds]);
  return new Map(rows.map((row) => [row.stream_id, recorded(row)]));
}

/** Returns each stream's last event of the given types at a point in time. */
export async function lastEventsOf(
  db: Queryable,
  streamIds: readonly StreamId[],
  types: readonly string[],
  moment: Moment,
): Promise<ReadonlyMap<string, RecordedEvent>> {
  const values = [streamIds, types, ...boundsOf(moment)];
  const { rows } = await db.query<EventRow>(statements.lasts, values);
  return new Map(rows.map((row) => [row.stream_id, recorded(row)]));
}

/** Returns the position or the time up to which events are included. The other value is null. */
export function boundsOf(moment: Moment): readonly [number | null, Date | null] {
  return moment.kind === 'position' ? [moment.position, null] : [null, moment.time];
}

/** Returns single events of a stream by version. Versions that do not exist are omitted. */
export async function readVersions(
  db: Queryable,
  streamId: StreamId,
  versions: readonly number[],
): Promise<ReadonlyMap<number, RecordedEvent>> {
  const { rows } = await db.query<EventRow>(statements.versions, [
    streamId,
    [...new Set(versions)].toSorted((one, other) => one - other),
  ]);
  return new Map(rows.map((row) => [row.version, recorded(row)]));
}

/** Returns at most `limit` events of a stream, newest first.
 *  @param before an exclusive upper limit for the version */
export async function readBackwards(
  db: Queryable,
  streamId: StreamId,
  before: number | undefined,
  limit: number,
): Promise<readonly RecordedEvent[]> {
  const values = [streamId, before ?? Number.MAX_SAFE_INTEGER, limit];
  const { rows } = await db.query<EventRow>(statements.backwards, values);
  return rows.map(recorded);
}
