/** Channel configurations: readable fields, and secrets that are stored encrypted. */
import type { ChannelConfig, ChannelKind } from '#domain/channel/channel.ts';
import { mustParse, parseGroupId } from '#domain/kernel/ids.ts';
import type { ChannelSecrets } from '#services/shared/channel-secrets.ts';
import Type, { type Static, type TSchema } from 'typebox';
import { fieldProblem, isProblem, type Problem } from '../http/problem.ts';
import { bodyProblem } from '../http/validation.ts';
import {
  ChatConfig,
  EmailConfig,
  InAppConfig,
  PagerDutyConfig,
  TelegramConfig,
  WebhookConfig,
} from './channel-schema.ts';

export interface ReadConfig {
  readonly config: ChannelConfig;
  readonly secrets: ChannelSecrets;
}

const telegram = 'https://api.telegram.org';
const pagerDuty = 'https://events.pagerduty.com';

const within = <S extends TSchema>(config: S) =>
  Type.Object({ config }, { additionalProperties: true });
const schemas = {
  email: within(EmailConfig),
  telegram: within(TelegramConfig),
  pagerduty: within(PagerDutyConfig),
  chat: within(ChatConfig),
  webhook: within(WebhookConfig),
  in_app: within(InAppConfig),
};

/** Reads a configuration from a request.
 *  @param before the existing configuration. The existing secrets are kept if the request omits them and does not
 *  change the target. Otherwise, users could send the secrets to another target. */
export function readConfig(
  kind: ChannelKind,
  entered: object,
  before: ReadConfig | undefined,
): ReadConfig | Problem {
  switch (kind) {
    case 'email':
      return readEmail(entered, before);
    case 'messaging':
      return readMessaging(entered, before);
    case 'webhook': {
      const read = checked(schemas.webhook, entered);
      if (isProblem(read)) return read;
      return { config: { kind, url: read.url }, secrets: before?.secrets ?? {} };
    }
    case 'in_app': {
      const read = checked(schemas.in_app, entered);
      if (isProblem(read)) return read;
      const groupId = read.group_id == null ? null : mustParse(parseGroupId, read.group_id);
      return { config: { kind, groupId }, secrets: {} };
    }
  }
}

function readEmail(entered: object, before: ReadConfig | undefined): ReadConfig | Problem {
  const read = checked(schemas.email, entered);
  if (isProblem(read)) return read;
  const { host, port = 587, security = 'starttls', username = null, from, to } = read;
  const config = { kind: 'email', host, port, security, username, from, to } as const;
  const was = before?.config;
  const isSame =
    was?.kind === 'email' &&
    was.host === config.host &&
    was.port === config.port &&
    was.security === config.security &&
    was.username === username;
  const password = read.password ?? (isSame ? before?.secrets.password : undefined);
  if (username !== null && password === undefined) return missing('password');
  if (username === null && password !== undefined) return missing('username');
  return { config, secrets: password === undefined ? {} : { password } };
}

function readMessaging(entered: object, before: ReadConfig | undefined): ReadConfig | Problem {
  switch ('service' in entered ? entered.service : undefined) {
    case 'telegram':
      return readTelegram(entered, before);
    case 'pagerduty':
      return readPagerDuty(entered, before);
    default:
      return readChat(entered, before);
  }
}

function readPagerDuty(entered: object, before: ReadConfig | undefined): ReadConfig | Problem {
  const read = checked(schemas.pagerduty, entered);
  if (isProblem(read)) return read;
  const server = (read.server ?? pagerDuty).replace(/\/+$/, '');
  const was = before?.config;
  const isSame = was?.kind === 'messaging' && was.service === 'pagerduty' && was.server === server;
  const token = read.routing_key ?? (isSame ? before?.secrets.token : undefined);
  if (token === undefined) return missing('routing_key');
  return { config: { kind: 'messaging', service: 'pagerduty', server }, secrets: { token } };
}

function readTelegram(entered: object, before: ReadConfig | undefined): ReadConfig | Problem {
  const read = checked(schemas.telegram, entered);
  if (isProblem(read)) return read;
  const server = (read.server ?? telegram).replace(/\/+$/, '');
  const was = before?.config;
  const isSame = was?.kind === 'messaging' && was.service === 'telegram' && was.server === server;
  const token = read.token ?? (isSame ? before?.secrets.token : undefined);
  if (token === undefined) return missing('token');
  const config = { kind: 'messaging', service: 'telegram', server, chatId: read.chat_id } as const;
  return { config, secrets: { token } };
}

function readChat(entered: object, before: ReadConfig | undefined): ReadConfig | Problem {
  const read = checked(schemas.chat, entered);
  if (isProblem(read)) return read;
  const was = before?.config;
  const isSame = was?.kind === 'messaging' && was.service === read.service;
  const url = read.url ?? (isSame ? before?.secrets.url : undefined);
  if (url === undefined) return missing('url');
  return { config: { kind: 'messaging', service: read.service }, secrets: { url } };
}

function checked<S extends TSchema>(
  schema: ReturnType<typeof within<S>>,
  config: object,
): Static<S> | Problem {
  const body = { config };
  const wrong = bodyProblem(schema, body) ?? addressProblem(config);
  return wrong ?? (body.config as Static<S>);
}

function addressProblem(config: object): Problem | undefined {
  for (const field of ['url', 'server']) {
    const text = (config as Record<string, unknown>)[field];
    if (typeof text === 'string' && URL.parse(text) === null) {
      return fieldProblem(`config/${field}`, 'is not a valid address');
    }
  }
  return undefined;
}

const missing = (field: string) => fieldProblem(`config/${field}`, 'is required');

const secretsOfService = {
  telegram: ['token'],
  pagerduty: ['routing_key'],
  slack: ['url'],
  discord: ['url'],
  mattermost: ['url'],
  teams: ['url'],
} as const;

/** Names of the encrypted fields. */
export function secretsOf(config: ChannelConfig): readonly string[] {
  switch (config.kind) {
    case 'email':
      return config.username === null ? [] : ['password'];
    case 'messaging':
      return secretsOfService[config.service];
    case 'webhook':
      return ['secret'];
    case 'in_app':
      return [];
  }
}
