/** Notification deliveries and their outcomes. */
import { mustParse, parseChannelId, parseDeliveryId, parseRuleId } from '#domain/kernel/ids.ts';
import { findChannel } from '#projections/channels/queries.ts';
import { findDelivery, listDeliveries } from '#projections/deliveries/queries.ts';
import Type from 'typebox';
import { operation, type Operation } from '../http/operation.ts';
import { defaultLimit, keyOf, pageReply } from '../http/paging.ts';
import { isProblem, notFound, problem } from '../http/problem.ts';
import { json } from '../http/reply.ts';
import { pageQuery, pathParameters, Uuid } from '../http/schema.ts';
import { deliveriesPath, queueDelivery } from './queue-delivery.ts';
import { Delivery, DeliveryPage, deliveryStatus } from './rule-schema.ts';
import { deliveryJson } from './view.ts';

const tag = 'Notifications';
const access = { right: 'notifications.manage' } as const;

const list = operation({
  method: 'get',
  path: deliveriesPath,
  operationId: 'listNotificationDeliveries',
  summary: 'List deliveries, newest first; finished deliveries are kept for 30 days',
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
  responses: {
    200: { description: 'One page of the list.', schema: DeliveryPage, headers: ['Link'] },
  },
  handle: async ({ query, url }, { readModels }) => {
    const { limit, cursor, channel_id: named, status } = query;
    const filter = {
      ...(named !== undefined && { channelId: mustParse(parseChannelId, named) }),
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
  path: `${deliveriesPath}/{notification_delivery_id}`,
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

const redeliver = operation({
  method: 'post',
  path: `${deliveriesPath}/{notification_delivery_id}/redeliver`,
  operationId: 'redeliverNotification',
  summary: 'Send a delivery again',
  description:
    'Creates a new delivery with its own ID to the same channel. Rejected while the original delivery ' +
    'still has attempts left.',
  tag,
  access,
  parameters: { notification_delivery_id: pathParameters.notificationDeliveryId },
  creates: true,
  responses: {
    202: { description: 'The delivery is queued.', schema: Delivery, headers: ['Location'] },
  },
  refusals: ['already_exists'],
  handle: async ({ parameters: { notification_delivery_id: id }, context }, services) => {
    const before = await findDelivery(services.readModels, id);
    if (before === undefined) return notFound;
    if (before.status === 'pending') {
      return problem(
        'already_exists',
        'The delivery is still in progress; further attempts follow automatically.',
      );
    }
    const channelId = mustParse(parseChannelId, before.channel_id);
    const channel = await findChannel(services.readModels, channelId);
    if (channel === undefined) return notFound;
    const ruleId = before.rule_id === null ? null : mustParse(parseRuleId, before.rule_id);
    const { told } = before;
    return await queueDelivery(
      { channelId, kind: channel.config.kind, ruleId, told },
      context,
      services,
    );
  },
});

export const deliveryOperations: readonly Operation[] = [list, get, redeliver];
