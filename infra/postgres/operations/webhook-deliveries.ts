/** The history of webhook calls. Calls that queued a run are found through that run. Other calls are stored separately
 *  (`webhook-misses.ts`). */
import type { WebhookId } from '#domain/kernel/ids.ts';
import type { Queryable } from '../database.ts';

export interface Delivery {
  /** The ID of the run, if the call queued a run. */
  readonly delivery_id: string;
  readonly time: Date;
  readonly status: number;
  /** Why the call was refused. */
  readonly code: string | null;
  /** The run that this call queued. For a repeated call, the run that the earlier call queued. */
  readonly run_id: string | null;
  readonly ip: string | null;
  readonly size_bytes: number | null;
  readonly count: number;
  readonly redelivery_of: string | null;
  /** Whether the content of the call is still stored. */
  readonly kept: boolean;
}

const ofRuns = `SELECT r.run_id AS delivery_id, r.queued_at AS time, 202 AS status, NULL AS code, r.run_id,
    e.metadata ->> 'ip' AS ip, (r.trigger ->> 'sizeBytes')::integer AS size_bytes, 1 AS count,
    (r.trigger ->> 'redeliveryOf')::uuid AS redelivery_of,
    EXISTS (SELECT FROM payloads p WHERE p.sha256 = r.trigger ->> 'payloadSha256') AS kept
  FROM runs r JOIN events e ON e.stream_id = 'run-' || r.run_id AND e.version = 1
  WHERE r.trigger_type = 'webhook' AND r.trigger ->> 'webhookId' = $1::uuid::text`;
const misses = `SELECT delivery_id, time, status, code, run_id, ip, size_bytes, count, NULL::uuid,
    payload IS NOT NULL FROM webhook_misses WHERE webhook_id = $1::uuid`;

const statements = {
  list: `SELECT * FROM (
      (${ofRuns} AND ($2::uuid IS NULL OR r.run_id < $2) ORDER BY r.run_id DESC LIMIT $3)
      UNION ALL
      (${misses} AND ($2::uuid IS NULL OR delivery_id < $2) ORDER BY delivery_id DESC LIMIT $3)
    ) deliveries ORDER BY delivery_id DESC LIMIT $3`,
  content: `SELECT r.trigger ->> 'payloadSha256' AS sha256, NULL AS payload,
      (r.trigger ->> 'sizeBytes')::integer AS size_bytes FROM runs r
    WHERE r.run_id = $2 AND r.trigger_type = 'webhook' AND r.trigger ->> 'webhookId' = $1::uuid::text
    UNION ALL SELECT NULL, payload, size_bytes FROM webhook_misses
    WHERE delivery_id = $2 AND webhook_id = $1::uuid`,
};

/** Lists at most `limit` deliveries after `after`, newest first. */
export async function listDeliveries(
  db: Queryable,
  webhookId: WebhookId,
  after: string | undefined,
  limit: number,
): Promise<readonly Delivery[]> {
  const values = [webhookId, after ?? null, limit];
  return (await db.query<Delivery>(statements.list, values)).rows;
}

/** The content of a delivery: either the hash of a payload, or separately stored content. Neither exists after
 *  removal. */
export interface DeliveredContent {
  readonly sha256: string | null;
  readonly payload: Buffer | null;
  readonly size_bytes: number | null;
}

/** Returns the content of a delivery, or `undefined` if the webhook has no such delivery. */
export async function findDelivered(
  db: Queryable,
  webhookId: WebhookId,
  deliveryId: string,
): Promise<DeliveredContent | undefined> {
  const { rows } = await db.query<DeliveredContent>(statements.content, [webhookId, deliveryId]);
  return rows[0];
}
