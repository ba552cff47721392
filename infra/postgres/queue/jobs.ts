/** Reads the queue as queue clients see it. */
import type { RunId } from '#domain/kernel/ids.ts';
import type { Queryable } from '../database.ts';
import { correlationIdOf } from './correlation.ts';

/** Unclaimed jobs of the groups in `$1`. Runs that require labels are reserved for runtimes. */
const waiting = `FROM run_queue q JOIN runs r USING (run_id)
  WHERE q.fence IS NULL AND NOT q.waiting AND q.runs_on = '[]'
    AND (q.lease_until IS NULL OR q.lease_until < now())
    AND ($1::uuid[] IS NULL OR r.group_id = ANY($1))`;

const statements = {
  count: `SELECT count(*) ${waiting}`,
  // The next run is last, as in Redis lists that are filled by LPUSH.
  list: `SELECT q.run_id ${waiting}
    ORDER BY q.priority, q.queue_position DESC OFFSET $2 LIMIT $3`,
  lease: `SELECT q.owner, q.fence, q.stop_requested, q.script_id, r.started_at, r.limits,
      ceil(extract(epoch FROM q.lease_until - now()))::integer AS seconds_left,
      ${correlationIdOf('q.run_id')} AS correlation_id
    FROM run_queue q JOIN runs r USING (run_id)
    WHERE q.run_id = $1 AND q.lease_until > now()`,
  running: `SELECT q.run_id FROM run_queue q JOIN runs r USING (run_id)
    WHERE q.fence IS NOT NULL AND ($1::uuid[] IS NULL OR r.group_id = ANY($1))
    ORDER BY q.run_id DESC LIMIT $2`,
  held: `SELECT run_id FROM run_queue
    WHERE starts_with(owner, $1) AND lease_until > now() ORDER BY run_id DESC LIMIT $2`,
  logTotals: `SELECT coalesce(max(last_seq), 0) AS lines, coalesce(sum(bytes), 0)::bigint AS bytes,
      coalesce(sum(last_seq - first_seq + 1), 0)::bigint AS stored
    FROM run_log_chunks WHERE run_id = $1`,
};

type Groups = readonly string[] | null;

/** Counts the claimable runs.
 *  @param groupIds `null` for all groups */
export async function countWaiting(db: Queryable, groupIds: Groups): Promise<number> {
  const { rows } = await db.query<{ count: number }>(statements.count, [groupIds]);
  return rows[0]?.count ?? 0;
}

/** Returns IDs of queued runs. The next run is last. */
export async function listWaiting(
  db: Queryable,
  groupIds: Groups,
  offset: number,
  limit: number,
): Promise<readonly string[]> {
  const { rows } = await db.query<{ run_id: string }>(statements.list, [groupIds, offset, limit]);
  return rows.map((row) => row.run_id);
}

export interface LeaseRow {
  readonly owner: string | null;
  /** The lease's fence number. `null` until the run has started. */
  readonly fence: number | null;
  readonly stop_requested: boolean;
  readonly script_id: string;
  readonly started_at: Date | null;
  readonly limits: { readonly log_bytes?: number | null };
  readonly seconds_left: number;
  readonly correlation_id: string;
}

/** Returns the lease on a run, regardless of its holder, or `undefined` if the run is not leased. */
export async function findLease(db: Queryable, runId: RunId): Promise<LeaseRow | undefined> {
  return (await db.query<LeaseRow>(statements.lease, [runId])).rows[0];
}

/** Returns at most `limit` IDs of runs that have started, newest first. */
export async function listRunning(
  db: Queryable,
  groupIds: Groups,
  limit: number,
): Promise<readonly string[]> {
  const { rows } = await db.query<{ run_id: string }>(statements.running, [groupIds, limit]);
  return rows.map((row) => row.run_id);
}

/** Returns at most `limit` IDs of runs whose lease owner begins with this prefix. */
export async function listHeld(
  db: Queryable,
  owner: string,
  limit: number,
): Promise<readonly string[]> {
  const { rows } = await db.query<{ run_id: string }>(statements.held, [owner, limit]);
  return rows.map((row) => row.run_id);
}

/** Returns the totals of a run's stored log. */
export async function logTotals(db: Queryable, runId: RunId) {
  const { rows } = await db.query<{ lines: number; bytes: number; stored: number }>(
    statements.logTotals,
    [runId],
  );
  const { lines, bytes, stored } = rows[0] ?? { lines: 0, bytes: 0, stored: 0 };
  return { logLines: lines, logBytes: bytes, logTruncated: stored < lines };
}
