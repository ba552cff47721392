/** Webhooks of scripts: addresses that cause runs. */
import { createHash, randomBytes } from 'node:crypto';
import type { Principal } from '#domain/kernel/actor.ts';
import { known, parseScriptId, parseWebhookId, type WebhookId } from '#domain/kernel/ids.ts';
import type { WebhookCommand } from '#domain/webhook/commands.ts';
import { findWebhook, listWebhooks, type WebhookView } from '#projections/webhooks/queries.ts';
import Type from 'typebox';
import { operation, type Call, type Operation } from '../http/operation.ts';
import { defaultLimit, keyOf, pageReply } from '../http/paging.ts';
import { isProblem, notFound, type Problem } from '../http/problem.ts';
import { json, nothing, type Answer } from '../http/reply.ts';
import { examples, pageQuery, pathParameters, Uuid } from '../schemas/common.ts';
import {
  NewWebhook,
  ShownWebhook,
  Webhook,
  WebhookChange,
  WebhookPage,
} from '../schemas/webhook.ts';
import type { Services } from '../services.ts';
import { badField } from './new-script.ts';
import { accepted, positionHeader, type Accepted } from './outcome.ts';
import { isIn, seesScript, visibleGroups } from './visible.ts';

const tag = 'Webhooks';
const path = '/api/v1/webhooks';
const access = { right: 'webhooks.manage' } as const;
const parameters = { webhook_id: pathParameters.webhookId };
const shownOnce = ['token', 'url'];

const list = operation({
  method: 'get',
  path,
  operationId: 'listWebhooks',
  summary: 'List webhooks, newest first',
  tag,
  access,
  query: Type.Object(
    { ...pageQuery, script_id: Type.Optional(Uuid()) },
    { additionalProperties: false },
  ),
  responses: { 200: { description: 'A page.', schema: WebhookPage, headers: ['Link'] } },
  refusals: ['invalid_cursor'],
  handle: async ({ principal, query, url }, { readModels }) => {
    const { limit, cursor, script_id: named } = query;
    const scriptId = named === undefined ? null : known(parseScriptId, named);
    const filter = { groupIds: visibleGroups(principal), scriptId };
    const request = { list: 'webhooks', filter, url, limit, cursor };
    const after = keyOf(request, parseWebhookId);
    if (isProblem(after)) return after;
    const size = (limit ?? defaultLimit) + 1;
    const rows = await listWebhooks(readModels, filter, after.key, size);
    return pageReply(request, rows, (row) => row.webhook_id, webhookJson);
  },
});

const create = operation({
  method: 'post',
  path,
  operationId: 'createWebhook',
  summary: 'Make a webhook of a script',
  description:
    'The answer shows its token and address once; only a hash is kept. Whoever has the token can start ' +
    'the script, and nothing else.',
  tag,
  access,
  creates: true,
  shownOnce,
  body: { schema: NewWebhook, example: { script_id: examples.scriptId, name: 'push' } },
  responses: { 201: { description: 'Made.', schema: ShownWebhook, headers: ['Orch-Position'] } },
  handle: async ({ principal, body, context }, services) => {
    const {
      script_id: named,
      name,
      enabled,
      when_busy: whenBusy,
      rate_limit_per_minute: rate,
    } = body;
    const scriptId = known(parseScriptId, named);
    if (!(await seesScript(principal, scriptId, services.readModels))) {
      return badField('script_id', 'there is no such script');
    }
    const { text, hash } = newWebhookToken();
    const outcome = await carryOut(
      {
        type: 'CreateWebhook',
        webhookId: known(parseWebhookId, services.ids.next()),
        scriptId,
        name: name ?? 'webhook',
        enabled: enabled ?? true,
        whenBusy: whenBusy ?? 'refuse',
        rateLimitPerMinute: rate ?? 60,
        tokenHash: hash,
      },
      context,
      services,
    );
    return isProblem(outcome) ? outcome : await shown(201, outcome, text, services);
  },
});

const change = operation({
  method: 'patch',
  path: `${path}/{webhook_id}`,
  operationId: 'changeWebhook',
  summary: 'Change settings of a webhook',
  tag,
  access,
  parameters,
  body: {
    schema: WebhookChange,
    example: { enabled: false },
    mediaTypes: ['application/merge-patch+json'],
  },
  responses: { 200: { description: 'As it is now.', schema: Webhook, headers: ['Orch-Position'] } },
  handle: async ({ principal, parameters: { webhook_id: webhookId }, body, context }, services) => {
    if ((await visibleWebhook(principal, webhookId, services)) === undefined) return notFound;
    const { name, enabled, when_busy: whenBusy, rate_limit_per_minute: rate } = body;
    const changes = {
      ...(name !== undefined && { name }),
      ...(enabled !== undefined && { enabled }),
      ...(whenBusy !== undefined && { whenBusy }),
      ...(rate !== undefined && { rateLimitPerMinute: rate }),
    };
    const outcome = await carryOut(
      { type: 'ChangeWebhook', webhookId, changes },
      context,
      services,
    );
    return isProblem(outcome) ? outcome : await shown(200, outcome, undefined, services);
  },
});

const remove = operation({
  method: 'delete',
  path: `${path}/{webhook_id}`,
  operationId: 'deleteWebhook',
  summary: 'Delete a webhook: its address leads nowhere at once',
  tag,
  access,
  parameters,
  responses: { 204: { description: 'Deleted.', headers: ['Orch-Position'] } },
  handle: async ({ principal, parameters: { webhook_id: webhookId }, context }, services) => {
    if ((await visibleWebhook(principal, webhookId, services)) === undefined) return notFound;
    const outcome = await carryOut({ type: 'DeleteWebhook', webhookId }, context, services);
    return isProblem(outcome) ? outcome : nothing(204, positionHeader(outcome));
  },
});

const rotate = operation({
  method: 'post',
  path: `${path}/{webhook_id}/rotate`,
  operationId: 'rotateWebhook',
  summary: 'Give a webhook another token: the one before leads nowhere at once',
  tag,
  access,
  parameters,
  creates: true,
  shownOnce,
  body: { schema: Type.Object({}, { additionalProperties: false }), example: {}, optional: true },
  responses: { 200: { description: 'Rotated.', schema: ShownWebhook, headers: ['Orch-Position'] } },
  handle: async ({ principal, parameters: { webhook_id: webhookId }, context }, services) => {
    if ((await visibleWebhook(principal, webhookId, services)) === undefined) return notFound;
    const { text, hash } = newWebhookToken();
    const command = { type: 'RotateWebhook', webhookId, tokenHash: hash } as const;
    const outcome = await carryOut(command, context, services);
    return isProblem(outcome) ? outcome : await shown(200, outcome, text, services);
  },
});

/** Names one webhook among all: 256 random bits. */
function newWebhookToken(): { readonly text: string; readonly hash: string } {
  const text = `whk_${randomBytes(32).toString('base64url')}`;
  return { text, hash: webhookTokenHash(text) };
}

/** What is stored of a token: whoever guesses does not choose it, so that the time of a look-up tells
 *  nothing. */
export function webhookTokenHash(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

async function carryOut(
  command: WebhookCommand,
  context: Call['context'],
  { commands }: Services,
): Promise<Accepted | Problem> {
  return accepted(await commands.execute(command, context));
}

async function visibleWebhook(
  principal: Principal,
  webhookId: WebhookId,
  { readModels }: Services,
): Promise<WebhookView | undefined> {
  const webhook = await findWebhook(readModels, webhookId);
  return webhook !== undefined && isIn(principal, webhook.group_id) ? webhook : undefined;
}

async function shown(
  status: number,
  outcome: Accepted,
  token: string | undefined,
  { readModels }: Services,
): Promise<Answer> {
  const webhookId = known(parseWebhookId, outcome.streamId.slice('webhook-'.length));
  const row = await findWebhook(readModels, webhookId);
  if (row === undefined) return notFound;
  // A repeated command was carried out with another token, which nobody has any more.
  const once = token === undefined || outcome.repeated ? {} : { token, url: `/hooks/${token}` };
  return json(status, { ...webhookJson(row), ...once }, positionHeader(outcome));
}

function webhookJson(row: WebhookView) {
  return {
    id: row.webhook_id,
    script_id: row.script_id,
    name: row.name,
    enabled: row.enabled,
    when_busy: row.when_busy,
    rate_limit_per_minute: row.rate_limit_per_minute,
    created_at: row.created_at,
    last_called_at: row.last_called_at,
  };
}

export const webhookOperations: readonly Operation[] = [list, create, change, remove, rotate];
