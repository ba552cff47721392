/** Manages webhooks, which are URLs that start a script's runs. */
import { mustParse, parseScriptId, parseWebhookId } from '#domain/kernel/ids.ts';
import { findWebhook, listWebhooks } from '#projections/webhooks/queries.ts';
import Type from 'typebox';
import { visibleGroups } from '../access/visibility.ts';
import { operation, type Call, type Operation } from '../http/operation.ts';
import { noContent, positionHeader, writtenId } from '../http/outcome.ts';
import { defaultLimit, keyOf, pageReply, onePage } from '../http/paging.ts';
import { aboutCurrentGroups, atParameter } from '../http/point-in-time.ts';
import { isProblem, notFound } from '../http/problem.ts';
import { json, type Answer } from '../http/reply.ts';
import { Exact, examples, pageQuery, pathParameters, Uuid } from '../http/schema.ts';
import { aboutPastLists, listAt, replyAt } from '../replay/resource-at.ts';
import type { Services } from '../services.ts';
import {
  changeWebhook,
  createWebhook,
  deleteWebhook,
  rotateSecret,
  rotateToken,
  visibleWebhook,
  type Changed,
} from './change-webhook.ts';
import {
  NewWebhook,
  ShownWebhook,
  Webhook,
  WebhookChange,
  WebhookPage,
  WebhookRotation,
} from './schema.ts';
import { webhookJson } from './view.ts';

const tag = 'Webhooks';
const path = '/api/v1/webhooks';
const access = { right: 'webhooks.manage' } as const;
const parameters = { webhook_id: pathParameters.webhookId };
const shownOnce = ['token', 'url', 'signing_secret'];

const aboutCalls =
  "With `at`, `last_called_at` is `null`, because calls are not part of the webhook's history.";

const list = operation({
  method: 'get',
  path,
  operationId: 'listWebhooks',
  summary: 'List webhooks, newest first, optionally at a point in time',
  description: `${aboutPastLists} ${aboutCalls}`,
  tag,
  access,
  query: Exact({ ...pageQuery, script_id: Type.Optional(Uuid()), at: atParameter }),
  responses: onePage(WebhookPage),
  handle: async ({ principal, query, url }, services) => {
    const { limit, cursor, script_id: named, at } = query;
    if (at !== undefined) {
      const past = { principal, at, url, limit, cursor, filter: { script_id: named } };
      return await listAt('webhooks', past, services);
    }
    const scriptId = named === undefined ? null : mustParse(parseScriptId, named);
    const filter = { groupIds: visibleGroups(principal), scriptId };
    const request = { list: 'webhooks', filter, url, limit, cursor };
    const after = keyOf(request, parseWebhookId);
    if (isProblem(after)) return after;
    const size = (limit ?? defaultLimit) + 1;
    const rows = await listWebhooks(services.readModels, filter, after.key, size);
    return pageReply(request, rows, (row) => row.webhook_id, webhookJson);
  },
});

const get = operation({
  method: 'get',
  path: `${path}/{webhook_id}`,
  operationId: 'getWebhook',
  summary: 'Read a webhook, now or at a point in time',
  description: `${aboutCurrentGroups} ${aboutCalls}`,
  tag,
  access,
  parameters,
  query: Exact({ at: atParameter }),
  responses: { 200: { description: 'The webhook.', schema: Webhook } },
  handle: async ({ principal, parameters: { webhook_id: id }, query: { at } }, services) => {
    if (at !== undefined) return await replyAt('webhooks', { principal, at, id }, services);
    const webhook = await visibleWebhook(principal, id, services);
    return webhook === undefined ? notFound : json(200, webhookJson(webhook));
  },
});

const create = operation({
  method: 'post',
  path,
  operationId: 'createWebhook',
  summary: 'Create a webhook for a script',
  description:
    'Only this response contains the token and the URL, because the platform stores only a hash. ' +
    'The token can only ' +
    'start this script. With `signing`, calls must also be signed with the signing secret, which only ' +
    'this response contains.',
  tag,
  access,
  creates: true,
  shownOnce,
  body: { schema: NewWebhook, example: { script_id: examples.scriptId, name: 'push' } },
  responses: {
    201: {
      description: 'The webhook was created.',
      schema: ShownWebhook,
      headers: ['Orch-Position'],
    },
  },
  handle: async (call, services) => {
    const changed = await createWebhook(call, services);
    return isProblem(changed) ? changed : await shown(201, changed, call, services);
  },
});

const change = operation({
  method: 'patch',
  path: `${path}/{webhook_id}`,
  operationId: 'changeWebhook',
  summary: 'Change the settings of a webhook',
  tag,
  access,
  parameters,
  body: {
    schema: WebhookChange,
    example: { enabled: false },
    mediaTypes: ['application/merge-patch+json'],
  },
  responses: {
    200: { description: 'The updated resource.', schema: ShownWebhook, headers: ['Orch-Position'] },
  },
  refusals: ['version_mismatch'],
  handle: async (call, services) => {
    const changed = await changeWebhook(call.parameters.webhook_id, call, services);
    return isProblem(changed) ? changed : await shown(200, changed, call, services);
  },
});

const remove = operation({
  method: 'delete',
  path: `${path}/{webhook_id}`,
  operationId: 'deleteWebhook',
  summary: 'Delete a webhook; its URL stops working immediately',
  tag,
  access,
  parameters,
  responses: { 204: { description: 'The webhook was deleted.', headers: ['Orch-Position'] } },
  handle: async (call, services) => {
    return noContent(await deleteWebhook(call.parameters.webhook_id, call, services));
  },
});

const rotate = operation({
  method: 'post',
  path: `${path}/{webhook_id}/rotate`,
  operationId: 'rotateWebhook',
  summary: 'Rotate the token or the signing secret of a webhook',
  description:
    'The previous value stops working immediately. Settings, deliveries and the other credential stay ' +
    'unchanged.',
  tag,
  access,
  parameters,
  creates: true,
  shownOnce,
  body: { schema: WebhookRotation, example: { what: 'token' }, optional: true },
  responses: {
    200: {
      description: 'The webhook with its new URL or secret.',
      schema: ShownWebhook,
      headers: ['Orch-Position'],
    },
  },
  refusals: ['version_mismatch'],
  handle: async (call, services) => {
    const change = call.body.what === 'signing_secret' ? rotateSecret : rotateToken;
    const changed = await change(call.parameters.webhook_id, call, services);
    return isProblem(changed) ? changed : await shown(200, changed, call, services);
  },
});

/** Responds with the webhook that a command wrote. A repeated request gets the webhook that the first request
 *  created. */
async function shown(
  status: 200 | 201,
  { outcome, token, signingSecret }: Changed,
  { origin }: Pick<Call, 'origin'>,
  { readModels }: Services,
): Promise<Answer> {
  const webhookId = writtenId(outcome, parseWebhookId);
  const row = await findWebhook(readModels, webhookId);
  if (row === undefined) return notFound;
  const once = {
    ...(token !== undefined && { token, url: `${origin}/hooks/${token}` }),
    ...(signingSecret !== undefined && { signing_secret: signingSecret }),
  };
  // A repeated request generates no secrets, and the secrets of the first request cannot be shown again.
  const body = { ...webhookJson(row), ...(outcome.repeated ? {} : once) };
  return json(status, body, positionHeader(outcome));
}

export const webhookOperations: readonly Operation[] = [list, create, get, change, remove, rotate];
