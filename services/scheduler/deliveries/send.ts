/** Sends a delivery through its channel. */
import type { ChannelConfig } from '#domain/channel/channel.ts';
import type { AttemptResult } from '#domain/delivery/delivery.ts';
import { sendMail } from '#infra/outgoing/mail.ts';
import { post, type Post } from '#infra/outgoing/post.ts';
import type { Targets } from '#infra/outgoing/targets.ts';
import { signedHeaders } from '#infra/outgoing/webhook-signature.ts';
import type { ChannelSecrets } from '#services/shared/channel-secrets.ts';
import { pagerDutyBody } from './chat-formats.ts';
import {
  chatBody,
  structuredMessage,
  telegramBody,
  textOf,
  titleOf,
  webhookBody,
  type MessageContent,
} from './messages.ts';

export interface Sending {
  readonly deliveryId: string;
  readonly config: Exclude<ChannelConfig, { kind: 'in_app' }>;
  readonly secrets: ChannelSecrets;
  readonly told: MessageContent;
  readonly now: Date;
  /** The base URL of links to the dashboard. If undefined, messages contain no links. */
  readonly publicUrl: string | undefined;
  readonly targets: Targets;
  readonly signal: AbortSignal;
}

/** @returns the outcome, or `gone` if the receiver permanently refuses deliveries
 *  @throws network errors, whose messages may contain secrets */
export async function send(sending: Sending): Promise<AttemptResult | 'gone'> {
  const { config, deliveryId, secrets, told, publicUrl, targets, signal } = sending;
  switch (config.kind) {
    case 'email':
      await sendMail(
        { ...config, password: secrets.password },
        {
          from: config.from,
          to: config.to,
          subject: titleOf(told),
          text: textOf(told, publicUrl),
          messageId: `<${deliveryId}@orchestrator>`,
        },
        targets,
        signal,
      );
      return { kind: 'sent' };
    case 'webhook':
      return await posted(signedPost(sending, config.url), sending);
    case 'messaging':
      return await posted(chatPost(sending, config), sending);
  }
}

function signedPost(sending: Sending, url: string): Post {
  const { deliveryId, told, now, secrets, publicUrl } = sending;
  const { secret, previous } = secrets;
  const keys = [
    ...(secret === undefined ? [] : [secret]),
    ...(previous !== undefined && Date.parse(previous.until) > now.getTime()
      ? [previous.secret]
      : []),
  ];
  const body = webhookBody(told, publicUrl);
  return { url: new URL(url), body, headers: signedHeaders(deliveryId, now, body, keys) };
}

function chatPost(
  { told, secrets, publicUrl }: Sending,
  config: Extract<ChannelConfig, { kind: 'messaging' }>,
): Post {
  if (config.service === 'telegram') {
    const url = new URL(`${config.server}/bot${secrets.token}/sendMessage`);
    return { url, headers: {}, body: telegramBody(config.chatId, told, publicUrl) };
  }
  if (config.service === 'pagerduty') {
    const body = pagerDutyBody(structuredMessage(told, publicUrl), secrets.token ?? '');
    return { url: new URL(`${config.server}/v2/enqueue`), headers: {}, body };
  }
  return {
    url: new URL(secrets.url ?? ''),
    headers: {},
    body: chatBody(config.service, told, publicUrl),
  };
}

async function posted(
  request: Post,
  { config, targets, signal }: Sending,
): Promise<AttemptResult | 'gone'> {
  const { status, text, retryAfterSeconds, location } = await post(request, targets, signal);
  if (status >= 200 && status < 300) return { kind: 'sent' };
  if (status === 410 && config.kind === 'webhook') return 'gone';
  const said =
    location === undefined ? text : `it redirects to ${location}; redirects are not followed`;
  const error = `The receiver returned ${status}${said === '' ? '' : `: ${said}`}`;
  return { kind: 'failed', error, final: false, retryAfterSeconds };
}
