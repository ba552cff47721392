/** Leases each due delivery to one sender at a time. Leases are not recorded as events. */
import type { Queryable } from '../database.ts';

const statements = {
  // Leases only a few deliveries per channel, so that a hanging channel does not block others. A delivery's lease ends
  // with the attempt.
  claim: `WITH due AS (
      SELECT d.delivery_id FROM notification_channels c CROSS JOIN LATERAL (
        SELECT delivery_id FROM deliveries d
        WHERE d.channel_id = c.channel_id AND next_attempt_at <= $1
          AND (leased_until IS NULL OR leased_until < $1 OR leased_attempts <> attempts)
        ORDER BY next_attempt_at LIMIT $2 FOR UPDATE SKIP LOCKED) d
      WHERE c.channel_id <> ALL($3::uuid[]) LIMIT $4)
    UPDATE deliveries d SET leased_until = $5, leased_attempts = attempts
    FROM due WHERE d.delivery_id = due.delivery_id
    RETURNING d.delivery_id, d.channel_id, d.attempts, d.told`,
  removeOld: `DELETE FROM deliveries WHERE ctid = ANY(ARRAY(
    SELECT ctid FROM deliveries WHERE ended_at < $1 LIMIT $2))`,
};

export interface DueDelivery<Content> {
  readonly delivery_id: string;
  readonly channel_id: string;
  /** The number of recorded attempts. */
  readonly attempts: number;
  readonly told: Content;
}

export interface Claim {
  readonly now: Date;
  readonly until: Date;
  readonly perChannel: number;
  readonly limit: number;
  /** Channels to skip. */
  readonly busy: readonly string[];
}

export async function claimDeliveries<Content>(
  db: Queryable,
  { now, until, perChannel, limit, busy }: Claim,
): Promise<readonly DueDelivery<Content>[]> {
  const values = [now, perChannel, busy, limit, until];
  return (await db.query<DueDelivery<Content>>(statements.claim, values)).rows;
}

/** Removes at most `limit` deliveries that ended before `before`.
 *  @returns whether `limit` was reached */
export async function removeOldDeliveries(
  db: Queryable,
  before: Date,
  limit: number,
): Promise<boolean> {
  return (await db.query(statements.removeOld, [before, limit])).rowCount === limit;
}
