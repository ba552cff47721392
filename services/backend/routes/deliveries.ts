/** What was told by channels, and what became of it. */
import { known, parseChannelId, parseDeliveryId } from '#domain/kernel/ids.ts';
import { findDelivery, listDeliveries } from '#projections/deliveries/queries.ts';
import type { DeliveriesTable } from '#projections/deliveries/table.ts';
import Type from 'typebox';
import { operation, type Operation } from '../http/operation.ts';
import { defaultLimit, keyOf, pageReply } from '../http/paging.ts';
import { isProblem, notFound } from '../http/problem.ts';
import { json } from '../http/reply.ts';
import { pageQuery, pathParameters, Uuid } from '../schemas/common.ts';
import { Delivery, DeliveryPage, deliveryStatus } from '../schemas/rule.ts';

const tag = 'Notifications';
const path = '/api/v1/notifications/deliveries';
const access = { right: 'notifications.manage' } as const;

const list = operation({
  method: 'get',
  path,
  operationId: 'listNotificationDeliveries',
  summary: 'List deliveries, newest first; those that have ended are kept for 30 days',
  tag,
  access,
  query: Type.Object(
    {
      ...pageQuery,
      channel_id: Type.Optional(Uuid()),
      status: Type.Optional(deliveryStatus),
    },
    { additionalProperties: false },
  ),
  responses: { 200: { description: 'A page.', schema: DeliveryPage, headers: ['Link'] } },
  refusals: ['invalid_cursor'],
  handle: async ({ query, url }, { readModels }) => {
    const { limit, cursor, channel_id: named, status } = query;
    const filter = {
      ...(named !== undefined && { channelId: known(parseChannelId, named) }),
      ...(status !== undefined && { status }),
    };
    const request = { list: 'notification-deliveries', filter, url, limit, cursor };
    const after = keyOf(request, parseDeliveryId);
    if (isProblem(after)) return after;
    const rows = await listDeliveries(readModels, filter, after.key, (limit ?? defaultLimit) + 1);
    return pageReply(request, rows, (row) => row.delivery_id, deliveryJson);
  },
});

const get = operation({
  method: 'get',
  path: `${path}/{notification_delivery_id}`,
  operationId: 'getNotificationDelivery',
  summary: 'Read a delivery',
  tag,
  access,
  parameters: { notification_delivery_id: pathParameters.notificationDeliveryId },
  responses: { 200: { description: 'The delivery.', schema: Delivery } },
  handle: async ({ parameters: { notification_delivery_id: id } }, { readModels }) => {
    const row = await findDelivery(readModels, id);
    return row === undefined ? notFound : json(200, deliveryJson(row));
  },
});

export function deliveryJson(row: DeliveriesTable) {
  const { on, level, message, script, runId } = row.told;
  return {
    id: row.delivery_id,
    channel_id: row.channel_id,
    rule_id: row.rule_id,
    status: row.status,
    on,
    level,
    message,
    script_id: script?.scriptId ?? null,
    script_name: script?.name ?? null,
    run_id: runId,
    attempts: row.attempts,
    last_error: row.last_error,
    queued_at: row.queued_at,
    next_attempt_at: row.next_attempt_at,
    ended_at: row.ended_at,
  };
}

export const deliveryOperations: readonly Operation[] = [list, get];
