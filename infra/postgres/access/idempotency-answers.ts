/** Stores the responses to requests with an `Idempotency-Key` for 24 hours. */
import type { Queryable } from '../database.ts';

const statements = {
  find: `SELECT fingerprint, status, headers, body FROM idempotency_answers
    WHERE command_id = $1 AND created_at > $2::timestamptz - interval '24 hours'`,
  store: `INSERT INTO idempotency_answers AS a
      (command_id, fingerprint, status, headers, body, created_at)
    VALUES ($1, $2, $3, $4, $5, $6)
    ON CONFLICT (command_id) DO UPDATE SET fingerprint = excluded.fingerprint,
      status = excluded.status, headers = excluded.headers, body = excluded.body,
      created_at = excluded.created_at
    WHERE a.created_at <= $6::timestamptz - interval '24 hours'`,
  purge: `DELETE FROM idempotency_answers WHERE command_id IN (
    SELECT command_id FROM idempotency_answers
    WHERE created_at <= $1::timestamptz - interval '24 hours' ORDER BY created_at LIMIT 1000)`,
};

export interface StoredAnswer {
  readonly fingerprint: string;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Returns the first response for `commandId`, or `undefined` if no response exists or the response has expired. */
export async function findStoredAnswer(
  db: Queryable,
  commandId: string,
  now: Date,
): Promise<StoredAnswer | undefined> {
  const { rows } = await db.query<StoredAnswer>(statements.find, [commandId, now]);
  return rows[0];
}

/** Stores the first response for an ID. Later responses for the same ID are ignored. */
export async function storeFirstAnswer(
  db: Queryable,
  commandId: string,
  answer: StoredAnswer,
  now: Date,
): Promise<void> {
  const { fingerprint, status, headers, body } = answer;
  const values = [commandId, fingerprint, status, JSON.stringify(headers), body, now];
  await db.query(statements.store, values);
}

/** Removes one batch of expired responses.
 *  @returns whether there may be more */
export async function purgeStoredAnswers(db: Queryable, now: Date): Promise<boolean> {
  const { rowCount } = await db.query(statements.purge, [now]);
  return rowCount === 1000;
}
