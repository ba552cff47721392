/**
 * Returns the runs that were queued or running at a point in time. Starts from the last snapshot (a "mark") before that
 * time, and applies the later events.
 */
import type { StreamId } from '#domain/kernel/event.ts';
import type { Queryable } from '../database.ts';
import { boundsOf, type Moment } from './streams-at.ts';

/** The number of positions between two marks. */
const markEvery = 50_000;

const noMark: Mark = { position: 0, latest: new Date(0), active: [] };

interface Mark {
  readonly position: number;
  readonly latest: Date;
  readonly active: readonly StreamId[];
}

const since = `WITH since AS (
    SELECT stream_id, bool_or(type = 'RunFinished') AS ended FROM events
    WHERE global_position > $1 AND type IN ('RunQueued', 'RunFinished')
      AND global_position <= coalesce($3::bigint, global_position)
      AND recorded_at <= coalesce($4::timestamptz, recorded_at)
    GROUP BY stream_id
  ), active AS (
    SELECT unnest($2::text[]) AS stream_id UNION SELECT stream_id FROM since
    EXCEPT SELECT stream_id FROM since WHERE ended
  )`;

const statements = {
  mark: `SELECT position, latest, active FROM replay_marks
    WHERE position <= coalesce($1::bigint, position) AND latest <= coalesce($2::timestamptz, latest)
    ORDER BY position DESC LIMIT 1`,
  page: `${since} SELECT stream_id FROM active WHERE stream_id > $5 ORDER BY stream_id LIMIT $6`,
  make: `${since}, span AS (
      SELECT max(recorded_at) AS latest FROM events
      WHERE global_position > $1 AND global_position <= $3
    )
    INSERT INTO replay_marks (position, latest, active)
    SELECT $3, greatest($5::timestamptz, (SELECT latest FROM span)),
      ARRAY(SELECT stream_id FROM active ORDER BY stream_id)
    ON CONFLICT DO NOTHING`,
  issued: `SELECT last_value AS position, pg_snapshot_xmax(pg_current_snapshot())::text AS horizon
    FROM events_global_position_seq`,
  settled: `SELECT pg_snapshot_xmin(pg_current_snapshot()) >= $1::xid8 AS settled`,
};

/** Returns the streams of the active runs, ordered by ID.
 *  @param after the run to start after
 *  @param limit the maximum number of streams */
export async function activeRunsAt(
  db: Queryable,
  moment: Moment,
  { after = '', limit }: { readonly after?: string | undefined; readonly limit: number },
): Promise<readonly StreamId[]> {
  const { position, active } = await markBefore(db, moment);
  const { rows } = await db.query<{ stream_id: StreamId }>(statements.page, [
    position,
    active,
    ...boundsOf(moment),
    `run-${after}`,
    limit,
  ]);
  return rows.map((row) => row.stream_id);
}

async function markBefore(db: Queryable, moment: Moment): Promise<Mark> {
  const { rows } = await db.query<Mark>(statements.mark, [...boundsOf(moment)]);
  return rows[0] ?? noMark;
}

/** Creates the marks that are due. Positions are assigned before commit, so a mark must wait until the transactions
 *  that were open at its position have ended. This takes several calls.
 *  @param seen the result of the previous call
 *  @returns the position up to which the next call can create marks, once the currently open transactions have ended */
export async function makeMarks(
  db: Queryable,
  seen: Horizon | undefined,
  signal: AbortSignal,
  every = markEvery,
): Promise<Horizon | undefined> {
  if (seen !== undefined && (await isSettled(db, seen))) {
    let last = await markBefore(db, { kind: 'position', position: seen.position });
    while (last.position + every <= seen.position && !signal.aborted) {
      const position = last.position + every;
      await db.query(statements.make, [last.position, last.active, position, null, last.latest]);
      last = await markBefore(db, { kind: 'position', position });
    }
    return await newHorizon(db);
  }
  return seen ?? (await newHorizon(db));
}

/** A position, and the open transactions that may still add events before that position. */
export interface Horizon {
  readonly position: number;
  readonly horizon: string;
}

async function newHorizon(db: Queryable): Promise<Horizon | undefined> {
  return (await db.query<{ position: number; horizon: string }>(statements.issued, [])).rows[0];
}

async function isSettled(db: Queryable, { horizon }: Horizon): Promise<boolean> {
  const { rows } = await db.query<{ settled: boolean }>(statements.settled, [horizon]);
  return rows[0]?.settled === true;
}
