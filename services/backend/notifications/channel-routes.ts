/** Manages notification channels. */
import type { NotificationContent } from '#domain/delivery/delivery.ts';
import { mustParse, parseChannelId, type ChannelId } from '#domain/kernel/ids.ts';
import type { Outcome } from '#domain/ports/commands.ts';
import { newSigningSecret } from '#infra/outgoing/webhook-signature.ts';
import { findChannel, listChannels } from '#projections/channels/queries.ts';
import type { ChannelsTable } from '#projections/channels/table.ts';
import { openChannel, sealChannel } from '#services/shared/channel-secrets.ts';
import Type from 'typebox';
import { operation, type Operation } from '../http/operation.ts';
import { accepted, noContent, positionHeader, writtenId } from '../http/outcome.ts';
import { defaultLimit, keyOf, pageReply } from '../http/paging.ts';
import { isProblem, notFound, problem } from '../http/problem.ts';
import { json, type Answer } from '../http/reply.ts';
import { pageQuery, pathParameters } from '../http/schema.ts';
import { sealing } from '../http/sealing.ts';
import type { Services } from '../services.ts';
import { readConfig } from './channel-config.ts';
import { Channel, ChannelChange, ChannelPage, NewChannel, ShownChannel } from './channel-schema.ts';
import { queueDelivery } from './queue-delivery.ts';
import { Delivery } from './rule-schema.ts';
import { channelJson } from './view.ts';

const tag = 'Notifications';
const path = '/api/v1/notifications/channels';
const access = { right: 'notifications.manage' } as const;
const parameters = { channel_id: pathParameters.channelId };
const shownOnce = ['secret'];

/** How long the previous secret remains valid. */
const overlapMs = 24 * 60 * 60_000;

const list = operation({
  method: 'get',
  path,
  operationId: 'listChannels',
  summary: 'List channels, newest first',
  tag,
  access,
  query: Type.Object(pageQuery, { additionalProperties: false }),
  responses: {
    200: { description: 'One page of the list.', schema: ChannelPage, headers: ['Link'] },
  },
  handle: async ({ query: { limit, cursor }, url }, { readModels }) => {
    const request = { list: 'channels', filter: null, url, limit, cursor };
    const after = keyOf(request, parseChannelId);
    if (isProblem(after)) return after;
    const rows = await listChannels(readModels, after.key, (limit ?? defaultLimit) + 1);
    return pageReply(request, rows, (row) => row.channel_id, channelJson);
  },
});

const get = operation({
  method: 'get',
  path: `${path}/{channel_id}`,
  operationId: 'getChannel',
  summary: 'Read a channel',
  tag,
  access,
  parameters,
  responses: { 200: { description: 'The channel.', schema: Channel } },
  handle: async ({ parameters: { channel_id: id } }, { readModels }) => {
    const row = await findChannel(readModels, id);
    return row === undefined ? notFound : json(200, channelJson(row));
  },
});

const create = operation({
  method: 'post',
  path,
  operationId: 'createChannel',
  summary: 'Create a channel',
  description:
    'A channel delivers notifications by email, chat or signed webhook, or to the inbox of a group. Its ' +
    'credentials are encrypted and never returned. The secret that signs webhooks is returned once, in ' +
    'this response. Rules determine which notifications are sent to a channel.',
  tag,
  access,
  creates: true,
  shownOnce,
  body: {
    schema: NewChannel,
    example: { name: 'on call', kind: 'webhook', config: { url: 'https://example.com/hook' } },
  },
  responses: {
    201: {
      description: 'The channel was created.',
      schema: ShownChannel,
      headers: ['Orch-Position'],
    },
  },
  refusals: ['version_mismatch', 'unavailable'],
  handle: async ({ body, context }, services) => {
    const { name, kind, enabled = true } = body;
    const read = readConfig(kind, body.config, undefined);
    if (isProblem(read)) return read;
    const secret = kind === 'webhook' ? newSigningSecret() : undefined;
    const channelId = mustParse(parseChannelId, services.ids.next());
    return await sealing("The channel's credentials", async () => {
      const secrets = { ...read.secrets, ...(secret !== undefined && { secret }) };
      const sealed = await sealChannel(services.vault, channelId, secrets);
      const { config } = read;
      const command = { type: 'CreateChannel', channelId, name, enabled, config, sealed } as const;
      const outcome = await services.commands.execute(command, context);
      return await shown(201, outcome, secret, services);
    });
  },
});

const change = operation({
  method: 'patch',
  path: `${path}/{channel_id}`,
  operationId: 'changeChannel',
  summary: 'Change a channel',
  description:
    '`config` replaces the current configuration. Omitted secrets are kept, unless the destination ' +
    'changes.',
  tag,
  access,
  parameters,
  body: {
    schema: ChannelChange,
    example: { enabled: false },
    mediaTypes: ['application/merge-patch+json'],
  },
  responses: {
    200: { description: 'The updated resource.', schema: Channel, headers: ['Orch-Position'] },
  },
  refusals: ['version_mismatch', 'unavailable'],
  handle: async ({ parameters: { channel_id: id }, body, context }, services) => {
    const row = await findChannel(services.readModels, id);
    if (row === undefined) return notFound;
    const { config: entered, ...changes } = body;
    return await sealing("The channel's credentials", async () => {
      const config = entered === undefined ? {} : await newConfig(row, id, entered, services);
      if (isProblem(config)) return config;
      const command = { type: 'ChangeChannel', channelId: id, ...changes, ...config } as const;
      const outcome = await services.commands.execute(command, context);
      return await shown(200, outcome, undefined, services);
    });
  },
});

async function newConfig(row: ChannelsTable, id: ChannelId, entered: object, { vault }: Services) {
  const { config, sealed, stream_version: expectedVersion } = row;
  const secrets = await openChannel(vault, id, sealed);
  const read = readConfig(config.kind, entered, { config, secrets });
  if (isProblem(read)) return read;
  return {
    config: read.config,
    sealed: await sealChannel(vault, id, read.secrets),
    expectedVersion,
  };
}

const remove = operation({
  method: 'delete',
  path: `${path}/{channel_id}`,
  operationId: 'deleteChannel',
  summary: 'Delete a channel that no rule uses',
  description: 'Pending deliveries of the channel fail, and its encryption key is destroyed.',
  tag,
  access,
  parameters,
  responses: { 204: { description: 'The channel was deleted.', headers: ['Orch-Position'] } },
  refusals: ['channel_in_use'],
  handle: async ({ parameters: { channel_id: id }, context }, services) => {
    if ((await findChannel(services.readModels, id)) === undefined) return notFound;
    const command = { type: 'DeleteChannel', channelId: id } as const;
    const reply = noContent(await services.commands.execute(command, context));
    if (!isProblem(reply)) await services.vault.destroyUnusedKey(id);
    return reply;
  },
});

const rotate = operation({
  method: 'post',
  path: `${path}/{channel_id}/rotate`,
  operationId: 'rotateChannelSecret',
  summary:
    'Rotate the signing secret of a webhook channel; the previous secret stays valid for a day',
  tag,
  access,
  parameters,
  creates: true,
  shownOnce,
  body: { schema: Type.Object({}, { additionalProperties: false }), example: {}, optional: true },
  responses: {
    200: {
      description: 'The channel with its new secret.',
      schema: ShownChannel,
      headers: ['Orch-Position'],
    },
  },
  refusals: ['validation_failed', 'version_mismatch', 'unavailable'],
  handle: async ({ parameters: { channel_id: id }, context }, services) => {
    const row = await findChannel(services.readModels, id);
    if (row === undefined) return notFound;
    if (row.config.kind !== 'webhook') {
      return problem(
        'validation_failed',
        'Only channels of kind webhook have a secret that can be rotated.',
      );
    }
    return await sealing("The channel's credentials", async () => {
      const { vault, clock } = services;
      const { secret: before } = await openChannel(vault, id, row.sealed);
      const secret = newSigningSecret();
      const until = new Date(clock.now().getTime() + overlapMs).toISOString();
      const previous = before === undefined ? {} : { previous: { secret: before, until } };
      const sealed = await sealChannel(vault, id, { secret, ...previous });
      const expectedVersion = row.stream_version;
      const command = { type: 'ChangeChannel', channelId: id, sealed, expectedVersion } as const;
      const outcome = await services.commands.execute(command, context);
      return await shown(200, outcome, secret, services);
    });
  },
});

const tried: Omit<NotificationContent, 'at'> = {
  on: 'test',
  level: 'info',
  message: 'Test notification: this channel works.',
  script: null,
  runId: null,
};

const test = operation({
  method: 'post',
  path: `${path}/{channel_id}/test`,
  operationId: 'testChannel',
  summary: 'Send a test notification through a channel',
  tag,
  access,
  parameters,
  creates: true,
  responses: {
    202: { description: 'The test delivery is queued.', schema: Delivery, headers: ['Location'] },
  },
  refusals: ['validation_failed'],
  handle: async ({ parameters: { channel_id: channelId }, context }, services) => {
    const row = await findChannel(services.readModels, channelId);
    if (row === undefined) return notFound;
    const { kind } = row.config;
    if (kind === 'in_app') {
      return problem('validation_failed', 'An inbox needs no test: it is always available.');
    }
    const told = { ...tried, at: services.clock.now().toISOString() };
    return await queueDelivery({ channelId, kind, ruleId: null, told }, context, services);
  },
});

async function shown(
  status: number,
  outcome: Outcome,
  secret: string | undefined,
  { readModels }: Services,
): Promise<Answer> {
  const done = accepted(outcome);
  if (isProblem(done)) return done;
  const row = await findChannel(readModels, writtenId(done, parseChannelId));
  if (row === undefined) return notFound;
  // A repeated request generates no secret. The first request's secret cannot be shown again.
  const once = secret === undefined || done.repeated ? {} : { secret };
  return json(status, { ...channelJson(row), ...once }, positionHeader(done));
}

export const channelOperations: readonly Operation[] = [
  list,
  create,
  get,
  change,
  remove,
  rotate,
  test,
];
