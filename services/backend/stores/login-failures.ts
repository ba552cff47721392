/** Failed sign-ins per subject, in windows of five minutes that start with the first failure. */
import type { Queryable } from '#infra/postgres/database.ts';

const statements = {
  read: `SELECT subject, failures, window_ends_at FROM login_failures
    WHERE subject = ANY($1) AND window_ends_at > $2`,
  add: `INSERT INTO login_failures AS f (subject, failures, window_ends_at)
    SELECT subject, 1, $2::timestamptz + interval '5 minutes'
      FROM unnest($1::text[]) AS subject ORDER BY subject
    ON CONFLICT (subject) DO UPDATE SET
      failures = CASE WHEN f.window_ends_at > $2 THEN f.failures + 1 ELSE 1 END,
      window_ends_at = CASE WHEN f.window_ends_at > $2
        THEN f.window_ends_at ELSE excluded.window_ends_at END`,
  clear: `DELETE FROM login_failures WHERE subject = ANY($1)`,
  purge: `DELETE FROM login_failures WHERE subject IN (
    SELECT subject FROM login_failures WHERE window_ends_at <= $1 LIMIT 1000)`,
};

export interface FailureCount {
  readonly failures: number;
  readonly windowEndsAt: Date;
}

/** The counts of those subjects that have any now. */
export async function readFailures(
  db: Queryable,
  subjects: readonly string[],
  now: Date,
): Promise<ReadonlyMap<string, FailureCount>> {
  const { rows } = await db.query<{ subject: string; failures: number; window_ends_at: Date }>(
    statements.read,
    [subjects, now],
  );
  return new Map(
    rows.map((row) => [row.subject, { failures: row.failures, windowEndsAt: row.window_ends_at }]),
  );
}

/** Counts one more failure for each subject. */
export async function addFailure(
  db: Queryable,
  subjects: readonly string[],
  now: Date,
): Promise<void> {
  await db.query(statements.add, [subjects, now]);
}

export async function clearFailures(db: Queryable, subjects: readonly string[]): Promise<void> {
  await db.query(statements.clear, [subjects]);
}

/** Removes windows that have ended, some at a time. @returns whether there may be more */
export async function purgeFailures(db: Queryable, now: Date): Promise<boolean> {
  const { rowCount } = await db.query(statements.purge, [now]);
  return rowCount === 1000;
}
