/** Stores the newest webhook calls that created no run, and removes older ones. */
import type { Queryable } from '../database.ts';

const keptOfWebhook = 200;

const statements = {
  note: `INSERT INTO webhook_misses AS m (delivery_id, webhook_id, time, code, status, run_id, ip,
      size_bytes, count, payload)
    SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::timestamptz[], $4::text[], $5::integer[], $6::uuid[],
      $7::text[], $8::integer[], $9::integer[], $10::bytea[])
    ON CONFLICT (delivery_id) DO UPDATE SET time = excluded.time, ip = excluded.ip,
      size_bytes = excluded.size_bytes, count = m.count + excluded.count`,
  trim: `DELETE FROM webhook_misses m USING unnest($1::uuid[]) AS noted (webhook_id)
    WHERE m.webhook_id = noted.webhook_id AND m.delivery_id < (
      SELECT delivery_id FROM webhook_misses n WHERE n.webhook_id = noted.webhook_id
      ORDER BY delivery_id DESC OFFSET ${keptOfWebhook - 1} LIMIT 1)`,
  forget: `UPDATE webhook_misses SET payload = NULL WHERE delivery_id IN (
    SELECT delivery_id FROM webhook_misses
    WHERE payload IS NOT NULL AND time < $1 ORDER BY time LIMIT $2)`,
  ofScript: `WITH gone AS (SELECT webhook_id FROM webhooks WHERE script_id = $1),
      calls AS (DELETE FROM webhook_calls WHERE webhook_id IN (SELECT webhook_id FROM gone))
    DELETE FROM webhook_misses WHERE webhook_id IN (SELECT webhook_id FROM gone)`,
  ofDeleted: `DELETE FROM webhook_misses m USING webhooks w
    WHERE w.webhook_id = m.webhook_id AND w.deleted`,
};

export interface Miss {
  readonly webhookId: string;
  /** Why the call was refused. `null` if the call repeats the call that created `runId`. */
  readonly code: string | null;
  /** The HTTP status of the response. */
  readonly status: number;
  readonly runId: string | null;
  readonly ip: string;
  /** The size of the part of the body that was read. */
  readonly sizeBytes: number | null;
  /** The headers and body. Absent if the call cannot be redelivered. */
  readonly payload?: Uint8Array;
}

export interface StoredMiss extends Miss {
  readonly deliveryId: string;
  readonly at: Date;
  /** The number of calls that the entry represents. */
  readonly count: number;
}

/** Stores calls that created no run. Adds up the counts of entries with the same ID, and keeps the newest 200 entries
 *  of each webhook. */
export async function storeMisses(db: Queryable, misses: readonly StoredMiss[]): Promise<void> {
  const column = <Value>(valueOf: (miss: StoredMiss) => Value) => misses.map(valueOf);
  await db.query(statements.note, [
    column((one) => one.deliveryId),
    column((one) => one.webhookId),
    column((one) => one.at),
    column((one) => one.code),
    column((one) => one.status),
    column((one) => one.runId),
    column((one) => one.ip),
    column((one) => one.sizeBytes),
    column((one) => one.count),
    column((one) => (one.payload === undefined ? null : Buffer.from(one.payload))),
  ]);
  await db.query(statements.trim, [[...new Set(column((one) => one.webhookId))]]);
}

/** Removes the content of at most `limit` calls older than `before`.
 *  @returns the number of removed contents */
export async function forgetMissedPayloads(
  db: Queryable,
  before: Date,
  limit: number,
): Promise<number> {
  return (await db.query(statements.forget, [before, limit])).rowCount ?? 0;
}

/** Removes all calls of a script's webhooks. */
export async function removeMissesOfScript(db: Queryable, scriptId: string): Promise<void> {
  await db.query(statements.ofScript, [scriptId]);
}

/** Removes all stored calls of deleted webhooks. */
export async function removeMissesOfDeleted(db: Queryable): Promise<void> {
  await db.query(statements.ofDeleted);
}
