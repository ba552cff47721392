/** Manages the stored log of a run that a queue client has leased. */
import type { Queryable } from '../database.ts';

const statements = {
  lock: `SELECT FROM run_queue WHERE run_id = $1 AND owner = $2 AND lease_until > now() FOR UPDATE`,
  last: `SELECT last_seq FROM run_log_chunks WHERE run_id = $1 ORDER BY first_seq DESC LIMIT 1`,
  bytes: `SELECT coalesce(sum(bytes), 0)::bigint AS bytes FROM run_log_chunks WHERE run_id = $1`,
  // Keeps the beginning and the end of the log, each up to half of the allowed size. The result is well
  // below the limit, so truncation is rare.
  cut: `DELETE FROM run_log_chunks WHERE run_id = $1 AND first_seq IN (
      SELECT first_seq FROM (
        SELECT first_seq, bytes, sum(bytes) OVER (ORDER BY first_seq) AS up_to,
          sum(bytes) OVER () AS total
        FROM run_log_chunks WHERE run_id = $1) chunks
      WHERE up_to > $2::bigint / 2 AND up_to < total
        AND total - up_to + bytes > $2::bigint * 7 / 16)
    RETURNING bytes`,
};

/** Locks the lease until the transaction ends.
 *  @returns whether the owner still holds the lease */
export async function lockLease(db: Queryable, runId: string, owner: string): Promise<boolean> {
  return (await db.query(statements.lock, [runId, owner])).rowCount !== 0;
}

/** Returns the number of the last stored line, or 0 if the log is empty. */
export async function lastSeqOf(db: Queryable, runId: string): Promise<number> {
  const { rows } = await db.query<{ last_seq: number }>(statements.last, [runId]);
  return rows[0]?.last_seq ?? 0;
}

/** Returns the size of the stored log in bytes. */
export async function storedBytes(db: Queryable, runId: string): Promise<number> {
  const { rows } = await db.query<{ bytes: number }>(statements.bytes, [runId]);
  return rows[0]?.bytes ?? 0;
}

/** Removes the middle of a log whose size exceeds the limit.
 *  @returns the number of removed bytes */
export async function truncateLog(db: Queryable, runId: string, limit: number): Promise<number> {
  const { rows } = await db.query<{ bytes: number }>(statements.cut, [runId, limit]);
  return rows.reduce((sum, row) => sum + row.bytes, 0);
}
