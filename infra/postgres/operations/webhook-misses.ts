/** Removes what is kept of calls of webhooks that made no run. */
import type { Queryable } from '../database.ts';

const statements = {
  forget: `UPDATE webhook_misses SET payload = NULL WHERE delivery_id IN (
    SELECT delivery_id FROM webhook_misses
    WHERE payload IS NOT NULL AND time < $1 ORDER BY time LIMIT $2)`,
  ofScript: `WITH gone AS (SELECT webhook_id FROM webhooks WHERE script_id = $1),
      calls AS (DELETE FROM webhook_calls WHERE webhook_id IN (SELECT webhook_id FROM gone))
    DELETE FROM webhook_misses WHERE webhook_id IN (SELECT webhook_id FROM gone)`,
  ofDeleted: `DELETE FROM webhook_misses m USING webhooks w
    WHERE w.webhook_id = m.webhook_id AND w.deleted`,
};

/** Forgets what calls before `before` brought; at most `limit`. @returns how many */
export async function forgetMissedPayloads(
  db: Queryable,
  before: Date,
  limit: number,
): Promise<number> {
  return (await db.query(statements.forget, [before, limit])).rowCount ?? 0;
}

/** Removes all of a script's webhooks. */
export async function removeMissesOfScript(db: Queryable, scriptId: string): Promise<void> {
  await db.query(statements.ofScript, [scriptId]);
}

/** Removes all of webhooks that are deleted. */
export async function removeMissesOfDeleted(db: Queryable): Promise<void> {
  await db.query(statements.ofDeleted);
}
