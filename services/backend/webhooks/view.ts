/** Formats webhooks and their deliveries for API responses. */
import { isUtf8 } from 'node:buffer';
import { splitWebhookPayload } from '#domain/webhook/payload.ts';
import type { Delivery } from '#infra/postgres/operations/webhook-deliveries.ts';
import type { WebhookView } from '#projections/webhooks/queries.ts';

export function webhookJson(row: WebhookView) {
  return {
    id: row.webhook_id,
    script_id: row.script_id,
    name: row.name,
    enabled: row.enabled,
    when_busy: row.when_busy,
    rate_limit_per_minute: row.rate_limit_per_minute,
    signing: row.signing !== null,
    created_at: row.created_at,
    last_called_at: row.last_called_at,
  };
}

export function deliveryJson({
  delivery_id: id,
  code,
  run_id: runId,
  kept,
  ...delivery
}: Delivery) {
  return {
    id,
    time: delivery.time,
    outcome: code !== null ? 'refused' : id === runId ? 'queued' : 'repeated',
    status: delivery.status,
    reason: code,
    run_id: runId,
    ip: delivery.ip,
    size_bytes: delivery.size_bytes,
    count: delivery.count,
    redelivery_of: delivery.redelivery_of,
    redeliverable: kept,
  };
}

const maxShownBytes = 64 * 1024;

/** A stored call. A body that is not UTF-8 is encoded in base64. */
export function deliveryContentJson(stored: Uint8Array) {
  const { headers, body } = splitWebhookPayload(stored);
  const shown = Buffer.from(body.subarray(0, maxShownBytes));
  const truncated = body.length > maxShownBytes;
  const encoding = isUtf8(body) ? 'utf-8' : 'base64';
  return {
    headers: JSON.parse(headers) as unknown,
    body: shown.toString(encoding),
    encoding,
    truncated,
  };
}
