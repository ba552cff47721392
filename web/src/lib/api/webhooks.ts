import { client, unwrap } from './client.ts';
import { randomKey } from './random-key.ts';
import type { HookAnswer, Page, ShownWebhook, Webhook, WebhookChange } from './types.ts';
import { readApiError } from './api-error.ts';

export function listWebhooks(scriptId: string, cursor: string | null): Promise<Page<Webhook>> {
  const query = { script_id: scriptId, ...(cursor && { cursor }) };
  return unwrap(client.GET('/api/v1/webhooks', { params: { query } }));
}

/** The answer alone shows the address. */
export function createWebhook(
  body: Pick<Webhook, 'script_id' | 'name' | 'when_busy' | 'rate_limit_per_minute'>,
): Promise<ShownWebhook> {
  const params = { header: { 'Idempotency-Key': randomKey() } };
  return unwrap(
    client.POST('/api/v1/webhooks', { params, body: { ...body, enabled: true, signing: false } }),
  );
}

export function patchWebhook(id: string, body: WebhookChange): Promise<Webhook> {
  return unwrap(
    client.PATCH('/api/v1/webhooks/{webhook_id}', {
      params: { path: { webhook_id: id } },
      body,
      headers: { 'content-type': 'application/merge-patch+json' },
    }),
  );
}

/** Gives it another address, which the answer alone shows. */
export function rotateWebhook(id: string): Promise<ShownWebhook> {
  const params = { path: { webhook_id: id }, header: { 'Idempotency-Key': randomKey() } };
  return unwrap(
    client.POST('/api/v1/webhooks/{webhook_id}/rotate', { params, body: { what: 'token' } }),
  );
}

export async function deleteWebhook(id: string): Promise<void> {
  const params = { path: { webhook_id: id } };
  await unwrap(client.DELETE('/api/v1/webhooks/{webhook_id}', { params }));
}

/** Calls an address as another program would.
 *  @throws ApiError with the status that the program would get */
export async function callWebhook(address: string): Promise<HookAnswer> {
  const response = await fetch(address, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"test":true}',
    credentials: 'omit',
  });
  if (!response.ok) throw await readApiError(response);
  return (await response.json()) as HookAnswer;
}
