/** Lists a webhook's deliveries with their outcomes, and redelivers calls. */
import { parseRunId } from '#domain/kernel/ids.ts';
import { getPayload, keepPayload, payloadName } from '#infra/postgres/event-store/payloads.ts';
import {
  findDelivered,
  listDeliveries,
  type DeliveredContent,
} from '#infra/postgres/operations/webhook-deliveries.ts';
import { findWebhookToCall } from '#projections/webhooks/queries.ts';
import { operation, type Operation } from '../http/operation.ts';
import { positionHeader } from '../http/outcome.ts';
import { defaultLimit, keyOf, pageReply, onePage } from '../http/paging.ts';
import { isProblem, notFound, problem } from '../http/problem.ts';
import { json } from '../http/reply.ts';
import { Exact, pageQuery, pathParameters } from '../http/schema.ts';
import type { Services } from '../services.ts';
import { visibleWebhook } from './change-webhook.ts';
import { queueDelivery, webhookDisabled, type ToDeliver } from './queue-delivery.ts';
import { DeliveryContent, DeliveryPage, HookAnswer } from './schema.ts';
import { deliveryContentJson, deliveryJson } from './view.ts';

const tag = 'Webhooks';
const path = '/api/v1/webhooks/{webhook_id}/deliveries';
const access = { right: 'webhooks.manage' } as const;
const { webhookId: webhook_id, deliveryId: delivery_id } = pathParameters;

const list = operation({
  method: 'get',
  path,
  operationId: 'listWebhookDeliveries',
  summary: 'List the calls of a webhook, newest first',
  description:
    'Returns all calls that started a run, and the 200 newest other calls. Rejected calls that ' +
    'cannot be redelivered are combined into one entry per minute. New calls appear within a second.',
  tag,
  access,
  parameters: { webhook_id },
  query: Exact(pageQuery),
  responses: onePage(DeliveryPage),
  handle: async ({ principal, parameters, query, url }, services) => {
    const { webhook_id: webhookId } = parameters;
    if ((await visibleWebhook(principal, webhookId, services)) === undefined) return notFound;
    const { limit, cursor } = query;
    const request = { list: 'deliveries', filter: { webhookId }, url, limit, cursor };
    const after = keyOf(request, parseRunId);
    if (isProblem(after)) return after;
    const size = (limit ?? defaultLimit) + 1;
    const rows = await listDeliveries(services.database, webhookId, after.key, size);
    return pageReply(request, rows, (row) => row.delivery_id, deliveryJson);
  },
});

const content = operation({
  method: 'get',
  path: `${path}/{delivery_id}/content`,
  operationId: 'readWebhookDelivery',
  summary: 'Read the headers and the body of a call',
  description:
    'Available until the payload is removed by retention. Bodies are truncated after 64 KiB.',
  tag,
  access,
  parameters: { webhook_id, delivery_id },
  responses: { 200: { description: 'Headers and body.', schema: DeliveryContent } },
  refusals: ['content_removed'],
  handle: async ({ principal, parameters }, services) => {
    const { webhook_id: webhookId, delivery_id: deliveryId } = parameters;
    if ((await visibleWebhook(principal, webhookId, services)) === undefined) return notFound;
    const delivered = await findDelivered(services.database, webhookId, deliveryId);
    if (delivered === undefined) return notFound;
    const { payload, sha256 } = delivered;
    const stored =
      payload ?? (sha256 === null ? undefined : await getPayload(services.database, sha256));
    return stored === undefined ? gone : json(200, deliveryContentJson(stored));
  },
});

const redeliver = operation({
  method: 'post',
  path: `${path}/{delivery_id}/redeliver`,
  operationId: 'redeliverWebhook',
  summary: 'Redeliver a call, starting a new run with the same headers and body',
  description:
    'Available for calls that started a run or were rejected for a temporary reason, until their ' +
    'payload is removed by retention. The rate limit and the signature are not checked again.',
  tag,
  access,
  parameters: { webhook_id, delivery_id },
  creates: true,
  body: { schema: Exact({}), example: {}, optional: true },
  responses: {
    202: {
      description: 'The run is queued.',
      schema: HookAnswer,
      headers: ['Location', 'Orch-Position'],
    },
  },
  refusals: ['webhook_disabled', 'script_disabled', 'concurrency_limit_reached', 'content_removed'],
  handle: async ({ principal, parameters, context }, services) => {
    const { webhook_id: webhookId, delivery_id: deliveryId } = parameters;
    if ((await visibleWebhook(principal, webhookId, services)) === undefined) return notFound;
    const webhook = await findWebhookToCall(services.readModels, webhookId);
    const delivered = await findDelivered(services.database, webhookId, deliveryId);
    if (webhook === undefined || delivered === undefined) return notFound;
    if (!webhook.enabled) return webhookDisabled;
    const content = await contentOf(delivered, services);
    if (content === undefined) return gone;
    const toDeliver = { webhook, ...content, redeliveryOf: deliveryId, context };
    const queued = await queueDelivery(toDeliver, services);
    if (isProblem(queued)) return queued;
    const { run_id: runId, status } = queued.run;
    const headers = { Location: `/api/v1/runs/${runId}`, ...positionHeader(queued.outcome) };
    return json(202, { run_id: runId, status }, headers);
  },
});

const gone = problem(
  'content_removed',
  'The payload of the call was not stored, or was removed by retention.',
);

async function contentOf(
  { sha256, payload, size_bytes: sizeBytes }: DeliveredContent,
  { database }: Services,
): Promise<Pick<ToDeliver, 'payloadSha256' | 'payload' | 'sizeBytes'> | undefined> {
  if (payload !== null) return { payloadSha256: payloadName(payload), payload, sizeBytes };
  if (sha256 === null || !(await keepPayload(database, sha256))) return undefined;
  return { payloadSha256: sha256, sizeBytes };
}

export const webhookDeliveryOperations: readonly Operation[] = [list, content, redeliver];
