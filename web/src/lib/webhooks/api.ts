import { readApiError } from '#lib/api/api-error.ts';
import { client, unwrap } from '#lib/api/client.ts';
import { randomKey } from '#lib/api/random-key.ts';
import type {
  HookAnswer,
  Page,
  ShownWebhook,
  Webhook,
  WebhookChange,
  WebhookDelivery,
  WebhookDeliveryContent,
} from '#lib/api/types.ts';
import { signedHeaders } from './sign.ts';

export function listWebhooks(scriptId: string, cursor: string | null): Promise<Page<Webhook>> {
  const query = { script_id: scriptId, ...(cursor && { cursor }) };
  return unwrap(client.GET('/api/v1/webhooks', { params: { query } }));
}

/** Creates a webhook. Only this response contains the URL and the signing secret. */
export function createWebhook(
  body: Pick<Webhook, 'script_id' | 'name' | 'when_busy' | 'rate_limit_per_minute' | 'signing'>,
): Promise<ShownWebhook> {
  const params = { header: { 'Idempotency-Key': randomKey() } };
  return unwrap(client.POST('/api/v1/webhooks', { params, body: { ...body, enabled: true } }));
}

/** Changes a webhook. If this creates a signing secret, only this response contains the secret. */
export function patchWebhook(id: string, body: WebhookChange): Promise<ShownWebhook> {
  return unwrap(
    client.PATCH('/api/v1/webhooks/{webhook_id}', {
      params: { path: { webhook_id: id } },
      body,
      headers: { 'content-type': 'application/merge-patch+json' },
    }),
  );
}

/** Rotates the URL or the signing secret. Only this response contains the new value. */
export function rotateWebhook(id: string, what: 'token' | 'signing_secret'): Promise<ShownWebhook> {
  const params = { path: { webhook_id: id }, header: { 'Idempotency-Key': randomKey() } };
  return unwrap(client.POST('/api/v1/webhooks/{webhook_id}/rotate', { params, body: { what } }));
}

export async function deleteWebhook(id: string): Promise<void> {
  const params = { path: { webhook_id: id } };
  await unwrap(client.DELETE('/api/v1/webhooks/{webhook_id}', { params }));
}

/** Lists a webhook's deliveries, newest first. */
export function listWebhookDeliveries(
  id: string,
  cursor: string | null,
): Promise<Page<WebhookDelivery>> {
  const params = { path: { webhook_id: id }, query: cursor ? { cursor } : {} };
  return unwrap(client.GET('/api/v1/webhooks/{webhook_id}/deliveries', { params }));
}

/** Returns the headers and the body of a delivery. @throws ApiError 410 if the content is past its retention period */
export function webhookDeliveryContent(
  id: string,
  deliveryId: string,
): Promise<WebhookDeliveryContent> {
  const params = { path: { webhook_id: id, delivery_id: deliveryId } };
  return unwrap(
    client.GET('/api/v1/webhooks/{webhook_id}/deliveries/{delivery_id}/content', { params }),
  );
}

/** Starts another run with the content of a delivery.
 *  @throws ApiError 410 if the content is past its retention period */
export function redeliverWebhook(id: string, deliveryId: string): Promise<HookAnswer> {
  const path = { webhook_id: id, delivery_id: deliveryId };
  const params = { path, header: { 'Idempotency-Key': randomKey() } };
  return unwrap(
    client.POST('/api/v1/webhooks/{webhook_id}/deliveries/{delivery_id}/redeliver', {
      params,
      body: {},
    }),
  );
}

/** Calls a webhook URL as an external program would.
 *  @param secret the signing secret; null sends an unsigned request
 *  @throws ApiError with the status of the response */
export async function callWebhook(address: string, secret: string | null): Promise<HookAnswer> {
  const body = '{"test":true}';
  const signature =
    secret === null ? {} : await signedHeaders(secret, `msg_${randomKey()}`, Date.now(), body);
  const response = await fetch(address, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...signature },
    body,
    credentials: 'omit',
  });
  if (!response.ok) throw await readApiError(response);
  return (await response.json()) as HookAnswer;
}
