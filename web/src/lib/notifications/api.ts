import { client, unwrap } from '#lib/api/client.ts';
import { randomKey } from '#lib/api/random-key.ts';
import type {
  Channel,
  ChannelChange,
  NewChannel,
  NewNotificationRule,
  NotificationDelivery,
  NotificationPage,
  NotificationRule,
  Page,
  ShownChannel,
} from '#lib/api/types.ts';

const mergePatch = { 'content-type': 'application/merge-patch+json' };
const once = () => ({ 'Idempotency-Key': randomKey() });

/** Lists notifications, newest first, with the total number of unread notifications. */
export function listNotifications(
  filter: { unread?: boolean; limit?: number },
  cursor: string | null,
): Promise<NotificationPage> {
  const query = { ...filter, ...(cursor && { cursor }) };
  return unwrap(client.GET('/api/v1/notifications', { params: { query } }));
}

export async function readNotification(id: string): Promise<void> {
  const params = { path: { notification_id: id } };
  await unwrap(client.POST('/api/v1/notifications/inbox/{notification_id}/read', { params }));
}

export async function readAllNotifications(): Promise<void> {
  await unwrap(client.POST('/api/v1/notifications/read-all', {}));
}

export function listChannels(cursor: string | null): Promise<Page<Channel>> {
  const query = { limit: 200, ...(cursor && { cursor }) };
  return unwrap(client.GET('/api/v1/notifications/channels', { params: { query } }));
}

/** Creates a channel. Only this response contains a webhook's signing secret. */
export function createChannel(body: NewChannel): Promise<ShownChannel> {
  const params = { header: once() };
  return unwrap(client.POST('/api/v1/notifications/channels', { params, body }));
}

export function patchChannel(id: string, body: ChannelChange): Promise<Channel> {
  const params = { path: { channel_id: id } };
  return unwrap(
    client.PATCH('/api/v1/notifications/channels/{channel_id}', {
      params,
      body,
      headers: mergePatch,
    }),
  );
}

/** @throws ApiError 409 while a rule uses the channel */
export async function deleteChannel(id: string): Promise<void> {
  const params = { path: { channel_id: id } };
  await unwrap(client.DELETE('/api/v1/notifications/channels/{channel_id}', { params }));
}

/** Rotates a webhook's signing secret. Only this response contains the new secret. */
export function rotateChannel(id: string): Promise<ShownChannel> {
  const params = { path: { channel_id: id }, header: once() };
  return unwrap(
    client.POST('/api/v1/notifications/channels/{channel_id}/rotate', { params, body: {} }),
  );
}

/** Sends a test message. The status of the returned delivery shows the outcome. */
export function testChannel(id: string): Promise<NotificationDelivery> {
  const params = { path: { channel_id: id }, header: once() };
  return unwrap(client.POST('/api/v1/notifications/channels/{channel_id}/test', { params }));
}

export function listRules(cursor: string | null): Promise<Page<NotificationRule>> {
  const query = cursor ? { cursor } : {};
  return unwrap(client.GET('/api/v1/notifications/rules', { params: { query } }));
}

export function createRule(body: NewNotificationRule): Promise<NotificationRule> {
  const params = { header: once() };
  return unwrap(client.POST('/api/v1/notifications/rules', { params, body }));
}

export function patchRule(
  id: string,
  body: Partial<NewNotificationRule>,
): Promise<NotificationRule> {
  const params = { path: { rule_id: id } };
  return unwrap(
    client.PATCH('/api/v1/notifications/rules/{rule_id}', { params, body, headers: mergePatch }),
  );
}

export async function deleteRule(id: string): Promise<void> {
  const params = { path: { rule_id: id } };
  await unwrap(client.DELETE('/api/v1/notifications/rules/{rule_id}', { params }));
}

export function listDeliveries(
  filter: { status?: NotificationDelivery['status']; channel_id?: string },
  cursor: string | null,
): Promise<Page<NotificationDelivery>> {
  const query = { ...filter, ...(cursor && { cursor }) };
  return unwrap(client.GET('/api/v1/notifications/deliveries', { params: { query } }));
}

/** @throws ApiError 409 while automatic attempts are pending */
export function redeliverNotification(id: string): Promise<NotificationDelivery> {
  const params = { path: { notification_delivery_id: id }, header: once() };
  return unwrap(
    client.POST('/api/v1/notifications/deliveries/{notification_delivery_id}/redeliver', {
      params,
    }),
  );
}
