/** Counts failed sign-ins per subject, in five-minute windows that start at the first failure. */
import type { Queryable } from '../database.ts';

const statements = {
  count: `INSERT INTO login_failures AS f (subject, failures, window_ends_at)
    SELECT subject, 1, $2::timestamptz + interval '5 minutes'
      FROM unnest($1::text[]) AS subject ORDER BY subject
    ON CONFLICT (subject) DO UPDATE SET
      failures = CASE WHEN f.window_ends_at > $2 THEN f.failures + 1 ELSE 1 END,
      window_ends_at = CASE WHEN f.window_ends_at > $2
        THEN f.window_ends_at ELSE excluded.window_ends_at END
    RETURNING subject, failures, window_ends_at`,
  clear: `DELETE FROM login_failures WHERE subject = $1`,
  undoAttempt: `UPDATE login_failures SET failures = failures - 1 WHERE subject = $1 AND failures > 0`,
  purge: `DELETE FROM login_failures WHERE subject IN (
    SELECT subject FROM login_failures WHERE window_ends_at <= $1 LIMIT 1000)`,
};

export interface FailureCount {
  readonly failures: number;
  readonly windowEndsAt: Date;
}

/** Counts one failure for each subject.
 *  @returns the new counts */
export async function countAttempt(
  db: Queryable,
  subjects: readonly string[],
  now: Date,
): Promise<ReadonlyMap<string, FailureCount>> {
  const { rows } = await db.query<{ subject: string; failures: number; window_ends_at: Date }>(
    statements.count,
    [subjects, now],
  );
  return new Map(
    rows.map((row) => [row.subject, { failures: row.failures, windowEndsAt: row.window_ends_at }]),
  );
}

/** Resets the count of a subject. */
export async function clearFailures(db: Queryable, subject: string): Promise<void> {
  await db.query(statements.clear, [subject]);
}

/** Subtracts one failure from the count. */
export async function undoAttempt(db: Queryable, subject: string): Promise<void> {
  await db.query(statements.undoAttempt, [subject]);
}

/** Removes one batch of expired windows.
 *  @returns whether there may be more */
export async function purgeFailures(db: Queryable, now: Date): Promise<boolean> {
  const { rowCount } = await db.query(statements.purge, [now]);
  return rowCount === 1000;
}
