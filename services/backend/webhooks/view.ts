/** Webhooks and their deliveries as the API shows them. */
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
