// Long because it contains a receiver for every kind of channel.
/** Tests deliveries to real receivers on loopback, over several days of simulated time. */
import { createHmac, randomBytes } from 'node:crypto';
import type { ChannelConfig } from '#domain/channel/channel.ts';
import type { NotificationContent } from '#domain/delivery/delivery.ts';
import { groupId, runId } from '#domain/testing/ids.ts';
import {
  createChannel,
  createGroup,
  createScript,
  queueDelivery,
} from '#domain/testing/samples.ts';
import {
  mustParse,
  parseChannelId,
  parseCommandId,
  parseDeliveryId,
  type ChannelId,
} from '#domain/kernel/ids.ts';
import type { Command } from '#domain/aggregates.ts';
import type { Commands } from '#domain/ports/commands.ts';
import { Targets } from '#infra/outgoing/targets.ts';
import { Vault } from '#infra/secrets/vault.ts';
import { systemIds } from '#infra/system/ids.ts';
import { openTestPlatform, type TestPlatform } from '#infra/testing/platform.ts';
import { findChannel } from '#projections/channels/queries.ts';
import { findDelivery } from '#projections/deliveries/queries.ts';
import { sealChannel, type ChannelSecrets } from '#services/shared/channel-secrets.ts';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { DeliverySender, type SenderDeps } from './sender.ts';
import { httpReceiver, mailServer } from './testing/receivers.ts';

const beginning = Date.parse('2026-01-01T00:00:00.000Z');
let platform: TestPlatform;
let commands: Commands;
let vault: Vault;
let nowMs = beginning;
const clock = { now: () => new Date(nowMs) };
let http: Awaited<ReturnType<typeof httpReceiver>>;
let mail: Awaited<ReturnType<typeof mailServer>>;
beforeAll(async () => {
  platform = await openTestPlatform();
  commands = platform.pipeline({ clock });
  vault = new Vault(platform.pool, [randomBytes(32)], systemIds);
  for (const command of [
    createGroup(),
    createGroup({ groupId: groupId(2), name: 'Sums' }),
    createScript(),
  ]) {
    await platform.accepted(command);
  }
});
afterAll(() => platform.close());
beforeEach(async () => {
  nowMs = beginning;
  [http, mail] = [await httpReceiver(), await mailServer()];
});
afterEach(() => {
  http.close();
  mail.close();
});

async function execute(command: Command): Promise<void> {
  const commandId = mustParse(parseCommandId, systemIds.next());
  const actor = { kind: 'system', name: 'scheduler' } as const;
  const context = { commandId, actor, ip: null, correlationId: commandId, causationId: null };
  expect((await commands.execute(command, context)).kind).toBe('accepted');
}

function sender(parts: Partial<SenderDeps> = {}): DeliverySender {
  return new DeliverySender({
    database: platform.pool,
    reads: platform.reads,
    commands,
    ids: systemIds,
    clock,
    vault,
    targets: new Targets(['127.0.0.1']),
    logger: { error: () => undefined },
    ...parts,
  });
}

async function givenChannel(config: ChannelConfig, secrets: ChannelSecrets = {}) {
  const channelId = mustParse(parseChannelId, systemIds.next());
  const sealed = await sealChannel(vault, channelId, secrets);
  await execute(createChannel({ channelId, config, sealed }));
  return channelId;
}

async function queued(
  channelId: ChannelId,
  config: ChannelConfig,
  told: Partial<NotificationContent> = {},
) {
  const deliveryId = mustParse(parseDeliveryId, systemIds.next());
  const wanted = queueDelivery({ deliveryId, channelId, kind: config.kind });
  await execute({ ...wanted, told: { ...wanted.told, ...told } });
  return deliveryId;
}

/** Queues a delivery and makes the sender attempt it once. @returns the delivery ID */
async function tried(config: ChannelConfig, secrets?: ChannelSecrets, parts?: Partial<SenderDeps>) {
  const id = await queued(await givenChannel(config, secrets), config);
  await round(parts);
  return id;
}

async function round(parts?: Partial<SenderDeps>): Promise<void> {
  const one = sender(parts);
  await one.runOnce();
  await one.settle();
}

const stateOf = async (id: string) => {
  const row = await findDelivery(platform.reads, mustParse(parseDeliveryId, id));
  return { status: row?.status, attempts: row?.attempts, last_error: row?.last_error };
};
const sent = { status: 'sent', attempts: 1, last_error: null };
const webhook = (): ChannelConfig => ({ kind: 'webhook', url: `${http.origin}/hook` });

describe('a webhook', () => {
  test('receives an event once, signed with both its current and its previous secret', async () => {
    const keys = [randomBytes(32).toString('base64'), randomBytes(32).toString('base64')];
    const until = new Date(beginning + 1000).toISOString();
    const previous = { secret: `whsec_${keys[1]}`, until };
    const id = await tried(webhook(), { secret: `whsec_${keys[0]}`, previous });
    expect(await stateOf(id)).toEqual(sent);
    await round();
    expect(http.received).toHaveLength(1);
    const { headers = {}, body = '' } = http.received[0] ?? {};
    const at = headers['webhook-timestamp'];
    expect(headers['webhook-id']).toBe(id);
    expect(headers['webhook-signature']).toBe(
      keys
        .map((key) => {
          const hmac = createHmac('sha256', Buffer.from(key, 'base64'));
          return `v1,${hmac.update(`${id}.${String(at)}.${body}`).digest('base64')}`;
        })
        .join(' '),
    );
    expect(JSON.parse(body)).toMatchObject({
      type: 'notification.failed',
      data: { message: 'The run failed with exit code 1.', script_name: 'Report' },
    });
  });

  test('receives the exception of the failed run as the message', async () => {
    const error = { type: 'ValueError', message: 'no such row\nhere', source: 'log' };
    const failed = runId(77);
    await platform.pool.query('INSERT INTO run_reports (run_id, error) VALUES ($1, $2)', [
      failed,
      JSON.stringify({ ...error, frames: [], causes: [] }),
    ]);
    const messageOf = async (content: Parameters<typeof queued>[2]) => {
      http.received.splice(0);
      await queued(await givenChannel(webhook()), webhook(), { runId: failed, ...content });
      await round();
      const { data } = JSON.parse(http.received[0]?.body ?? '') as { data: { message: string } };
      return data.message;
    };
    expect(await messageOf({ on: 'error_first_seen' })).toBe('ValueError: no such row');
    expect(await messageOf({ on: 'recovered', message: 'It works.' })).toBe('It works.');
  });

  test('is retried with growing delays if it responds with 500, until the delivery fails', async () => {
    http.answer.status = 500;
    const id = await tried(webhook());
    const attempts = [0];
    while ((await stateOf(id)).status === 'pending') {
      const row = await findDelivery(platform.reads, id);
      nowMs = Number(row?.next_attempt_at) - 1;
      await round();
      expect(http.received).toHaveLength(attempts.length);
      nowMs += 1;
      await round();
      attempts.push((nowMs - beginning) / 3_600_000);
    }
    const last = { status: 'failed', attempts: 11, last_error: 'The receiver returned 500: said' };
    expect(await stateOf(id)).toEqual(last);
    expect(attempts.at(-1)).toBeGreaterThan(71);
    expect(attempts.at(-1)).toBeLessThan(76);
    expect(new Set(http.received.map(({ headers }) => headers['webhook-id']))).toEqual(
      new Set([id]),
    );
  });

  test('is disabled if it responds with 410', async () => {
    http.answer.status = 410;
    const config = webhook();
    const channelId = await givenChannel(config);
    const id = await queued(channelId, config);
    await round();
    expect(await stateOf(id)).toMatchObject({ status: 'failed', attempts: 1 });
    expect(await findChannel(platform.reads, channelId)).toMatchObject({ enabled: false });
    const next = await queued(channelId, config);
    await round();
    expect(await stateOf(next)).toMatchObject({ last_error: 'The channel is disabled.' });
    expect(http.received).toHaveLength(1);
  });

  test('is retried after the time in its Retry-After header', async () => {
    http.answer = { status: 429, headers: { 'Retry-After': '600' } };
    const row = await findDelivery(platform.reads, await tried(webhook()));
    expect(Number(row?.next_attempt_at)).toBe(beginning + 600_000);
  });

  test('cannot redirect the delivery', async () => {
    const location = 'http://169.254.169.254/latest';
    http.answer = { status: 307, headers: { Location: location } };
    const { last_error } = await stateOf(await tried(webhook()));
    expect(last_error).toBe(
      `The receiver returned 307: it redirects to ${location}; redirects are not followed`,
    );
  });
});

describe('private addresses', () => {
  test('receive nothing unless an operator permits them', async () => {
    const id = await tried(webhook(), {}, { targets: new Targets([]) });
    expect(await stateOf(id)).toMatchObject({
      status: 'pending',
      attempts: 1,
      last_error: expect.stringContaining('127.0.0.1 does not resolve to a public address'),
    });
    expect(http.received).toEqual([]);
  });

  test('are resolved only once, so that DNS rebinding has no effect', async () => {
    const { port } = new URL(http.origin);
    const answers = [['127.0.0.1'], ['169.254.169.254']];
    const targets = new Targets(['127.0.0.1'], () => Promise.resolve(answers.shift() ?? []));
    const url = `http://rebinding.example:${port}/`;
    const id = await tried({ kind: 'webhook', url }, {}, { targets });
    expect(await stateOf(id)).toEqual(sent);
    expect(http.received[0]?.headers.host).toBe(`rebinding.example:${port}`);
    expect(answers).toHaveLength(1);
  });
});

describe('a mail server', () => {
  const config = (changes = {}): ChannelConfig => ({
    kind: 'email',
    host: '127.0.0.1',
    port: mail.port,
    security: 'none',
    username: 'bot',
    from: 'bot@example.com',
    to: ['ops@example.com', 'night@example.com'],
    ...changes,
  });

  test('sends an email about an event to all recipients', async () => {
    const id = await tried(config(), { password: 'good' });
    expect(await stateOf(id)).toEqual(sent);
    expect(mail.logins).toEqual(['\0bot\0good']);
    expect(mail.mails).toHaveLength(1);
    for (const part of [
      'To: ops@example.com, night@example.com',
      'Subject: Report: failed',
      `Message-ID: <${id}@orchestrator>`,
      'The run failed with exit code 1.',
    ]) {
      expect(mail.mails[0]).toContain(part);
    }
  });

  test('refuses a login, and the error does not contain the password', async () => {
    const { last_error } = await stateOf(await tried(config(), { password: 'wrong one' }));
    expect(last_error).toContain('535 no, not with ***');
    expect(last_error).not.toContain('wrong one');
  });

  test('receives no password over an unencrypted connection if encryption is required', async () => {
    const id = await tried(config({ security: 'starttls' }), { password: 'good' });
    expect(await stateOf(id)).toMatchObject({ status: 'pending', attempts: 1 });
    expect(mail.logins).toEqual([]);
  });

  test('does not block other channels if it does not respond, and is retried later', async () => {
    mail.silent = true;
    const stuck = await queued(await givenChannel(config(), { password: 'good' }), config());
    const other = await queued(await givenChannel(webhook()), webhook());
    const slow = sender();
    const served = new Promise<void>((resolve) => void slow.runOnce(resolve));
    await served;
    expect(await stateOf(other)).toEqual(sent);
    await slow.stop();
    expect(await stateOf(stuck)).toMatchObject({ status: 'pending', attempts: 0 });
    mail.silent = false;
    await round();
    expect(mail.mails).toHaveLength(0);
    nowMs += 61_000;
    await round();
    expect(await stateOf(stuck)).toEqual(sent);
  });
});

describe('a chat', () => {
  test('receives an event in the format of its service', async () => {
    const url = `${http.origin}/chat`;
    await tried(
      { kind: 'messaging', service: 'telegram', server: http.origin, chatId: '@ops' },
      { token: '7:abc' },
    );
    for (const service of ['slack', 'discord', 'mattermost'] as const) {
      await tried({ kind: 'messaging', service }, { url });
    }
    const text = expect.stringContaining('The run failed with exit code 1.');
    expect(http.received.map(({ path, body }) => [path, JSON.parse(body)])).toEqual([
      ['/bot7:abc/sendMessage', expect.objectContaining({ chat_id: '@ops', text })],
      ['/chat', { text, blocks: expect.any(Array) }],
      ['/chat', { content: text, allowed_mentions: { parse: [] } }],
      ['/chat', { text }],
    ]);
  });

  test('receives blocks, cards or events if its service supports structured messages', async () => {
    const url = `${http.origin}/chat`;
    const failed = { message: 'It <failed> & [said](x).', about: 'runs 1' };
    const publicUrl = 'https://orchestrator.example.com';
    const slack = { kind: 'messaging', service: 'slack' } as const;
    const teams = { kind: 'messaging', service: 'teams' } as const;
    const pagerduty = { kind: 'messaging', service: 'pagerduty', server: http.origin } as const;
    for (const [config, told] of [
      [slack, failed],
      [teams, failed],
      [pagerduty, failed],
      [pagerduty, { ...failed, on: 'recovered', level: 'info', clears: true }],
    ] as const) {
      await queued(await givenChannel(config, { url, token: 'R0UT1NG' }), config, told);
      await round({ publicUrl });
    }
    const [blocks, card, trigger, resolve] = http.received.map(({ path, body }) => ({
      path,
      body: JSON.parse(body),
    }));
    const href = `${publicUrl}/runs/${queueDelivery().told.runId}`;
    const { script } = queueDelivery().told;
    expect(blocks?.body.blocks).toEqual([
      { type: 'header', text: { type: 'plain_text', text: `${script?.name}: failed` } },
      { type: 'section', text: { type: 'mrkdwn', text: 'It &lt;failed&gt; &amp; [said](x).' } },
      { type: 'context', elements: [{ type: 'mrkdwn', text: expect.stringContaining('Time: ') }] },
      {
        type: 'actions',
        elements: [{ type: 'button', text: { type: 'plain_text', text: 'Open run' }, url: href }],
      },
    ]);
    expect(card?.body).toMatchObject({
      type: 'message',
      attachments: [
        {
          contentType: 'application/vnd.microsoft.card.adaptive',
          content: {
            type: 'AdaptiveCard',
            version: '1.4',
            body: [
              { type: 'TextBlock', color: 'attention' },
              { type: 'TextBlock', text: String.raw`It \<failed\> & \[said\]\(x\).` },
              { type: 'FactSet' },
            ],
            actions: [{ type: 'Action.OpenUrl', url: href }],
          },
        },
      ],
    });
    expect([trigger?.path, trigger?.body]).toEqual([
      '/v2/enqueue',
      {
        routing_key: 'R0UT1NG',
        event_action: 'trigger',
        dedup_key: expect.stringMatching(/^orchestrator-[0-9a-f]{64}$/),
        payload: {
          summary: `${script?.name}: failed: ${failed.message}`,
          source: script?.name,
          severity: 'error',
          timestamp: expect.any(String),
          class: 'failed',
          component: script?.name,
          group: script?.groupId,
          custom_details: expect.objectContaining({ message: failed.message }),
        },
        links: [{ href, text: 'Open run' }],
      },
    ]);
    expect(resolve?.body).toMatchObject({
      event_action: 'resolve',
      dedup_key: trigger?.body.dedup_key,
    });
  });

  test('does not expose its URL in errors', async () => {
    const url = 'http://127.0.0.1:1/T0/secret';
    const { last_error } = await stateOf(
      await tried({ kind: 'messaging', service: 'slack' }, { url }),
    );
    expect(last_error).toContain('ECONNREFUSED');
    expect(last_error).not.toContain('secret');
  });
});

describe('a message about a run', () => {
  const publicUrl = 'https://orchestrator.example.com';
  const link = `${publicUrl}/runs/${queueDelivery().told.runId}`;
  const mails = (): ChannelConfig => ({
    kind: 'email',
    host: '127.0.0.1',
    port: mail.port,
    security: 'none',
    username: null,
    from: 'bot@example.com',
    to: ['ops@example.com'],
  });
  /** Sends one message through each kind of channel. @returns the received texts */
  const arrivedThrough = async (
    parts: Partial<SenderDeps>,
    told: Partial<NotificationContent> = {},
  ) => {
    const chat = { url: `${http.origin}/chat`, token: '7:abc' };
    const telegram = { kind: 'messaging', service: 'telegram', server: http.origin } as const;
    const channels: readonly ChannelConfig[] = [
      webhook(),
      mails(),
      { ...telegram, chatId: '@ops' },
      ...(['slack', 'discord', 'mattermost'] as const).map(
        (service) => ({ kind: 'messaging', service }) as const,
      ),
    ];
    for (const config of channels) await queued(await givenChannel(config, chat), config, told);
    await round(parts);
    expect([http.received, mail.mails].map(({ length }) => length)).toEqual([5, 1]);
    // Quoted-printable encoding breaks long lines with an equals sign.
    return [...http.received.map(({ body }) => body), ...mail.mails].map((text) =>
      text.replaceAll('=\r\n', ''),
    );
  };

  test('links to the run in every kind of channel', async () => {
    for (const text of await arrivedThrough({ publicUrl })) expect(text).toContain(link);
  });

  test('keeps the link if the text is too long for a chat', async () => {
    const texts = await arrivedThrough({ publicUrl }, { message: 'x'.repeat(4000) });
    for (const text of texts) expect(text).toContain(link);
  });

  test('contains no link if no public URL is configured', async () => {
    const texts = await arrivedThrough({});
    for (const text of texts) expect(text).not.toContain('/runs/');
    expect(texts.filter((text) => text.includes('"run_url":null'))).toHaveLength(1);
  });
});

describe('an inbox', () => {
  const notices = async () =>
    await platform.reads.selectFrom('notices').select(['group_id', 'happening']).execute();

  test('does not receive a notification that the platform has already posted there', async () => {
    const own: ChannelConfig = { kind: 'in_app', groupId: null };
    const others: ChannelConfig = { kind: 'in_app', groupId: groupId(2) };
    const [ours, theirs] = [await givenChannel(own), await givenChannel(others)];
    await queued(ours, own);
    await queued(ours, own, { on: 'recovered' });
    await queued(theirs, others, { on: 'message' });
    await round();
    expect(new Set(await notices())).toEqual(
      new Set([
        { group_id: groupId(), happening: 'recovered' },
        { group_id: groupId(2), happening: 'message' },
      ]),
    );
  });
});

describe('concurrent or crashed senders', () => {
  test('send each delivery only once', async () => {
    const id = await queued(await givenChannel(webhook()), webhook());
    await Promise.all([round(), round(), round()]);
    expect(http.received).toHaveLength(1);
    expect(await stateOf(id)).toEqual(sent);
  });

  test('send a delivery again with the same ID after a crash before its result is recorded', async () => {
    const deaf: Commands = {
      execute: () => Promise.reject(new Error('died')),
      executeAll: () => Promise.reject(new Error('died')),
      check: () => Promise.resolve(undefined),
    };
    const id = await tried(webhook(), {}, { commands: deaf });
    expect(await stateOf(id)).toMatchObject({ status: 'pending', attempts: 0 });
    await round();
    expect(http.received).toHaveLength(1);
    nowMs += 61_000;
    await round();
    expect(http.received.map(({ headers }) => headers['webhook-id'])).toEqual([id, id]);
    expect(await stateOf(id)).toEqual(sent);
  });

  test('fail a delivery whose channel was deleted or cannot be read', async () => {
    const gone = await givenChannel(webhook());
    const first = await queued(gone, webhook());
    await execute({ type: 'DeleteChannel', channelId: gone });
    const unreadable = await queued(await givenChannel(webhook(), { secret: 'whsec_' }), webhook());
    await round({ vault: new Vault(platform.pool, [randomBytes(32)], systemIds) });
    expect(await stateOf(first)).toMatchObject({ last_error: 'The channel was deleted.' });
    expect((await stateOf(unreadable)).last_error).toMatch('cannot be decrypted');
  });
});
