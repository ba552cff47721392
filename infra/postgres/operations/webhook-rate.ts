/** The webhook rate limit, with one token bucket per webhook that all backends share. */
import { webhookBurst } from '#domain/webhook/webhook.ts';
import type { Queryable } from '../database.ts';

const earned = `least(${webhookBurst}, c.allowance
  + greatest(0, extract(epoch FROM clock_timestamp() - c.called_at)) * $2::integer / 60.0)`;

const statements = {
  // Concurrent calls wait for the row lock, so that every call is counted.
  take: `INSERT INTO webhook_calls AS c (webhook_id, allowance, called_at)
    VALUES ($1, ${webhookBurst} - 1, clock_timestamp())
    ON CONFLICT (webhook_id) DO UPDATE SET allowance = ${earned} - 1, called_at = clock_timestamp()
      WHERE ${earned} >= 1
    RETURNING allowance`,
  left: `SELECT ${earned} AS allowance FROM webhook_calls c WHERE webhook_id = $1`,
};

export interface CallAllowance {
  readonly allowed: boolean;
  /** The number of calls currently allowed. */
  readonly remaining: number;
  /** Time until the next call is allowed. 0 if a call is allowed now. */
  readonly retryAfterSeconds: number;
}

/** Counts a webhook call if the rate limit allows the call. */
export async function takeCall(
  db: Queryable,
  webhookId: string,
  perMinute: number,
): Promise<CallAllowance> {
  const values = [webhookId, perMinute];
  const taken = (await db.query<{ allowance: number }>(statements.take, values)).rows[0];
  if (taken !== undefined) {
    return { allowed: true, remaining: Math.floor(taken.allowance), retryAfterSeconds: 0 };
  }
  const { rows } = await db.query<{ allowance: number }>(statements.left, values);
  const missing = Math.max(0, 1 - (rows[0]?.allowance ?? 0));
  const retryAfterSeconds = Math.max(1, Math.ceil((missing * 60) / perMinute));
  return { allowed: false, remaining: 0, retryAfterSeconds };
}
