/** The wire format of notification channels. */
import { channelKinds, chatServices, mailSecurities } from '#domain/channel/channel.ts';
import Type from 'typebox';
import { examples, Nullable, Page, Time, Uuid, OneLine } from '../http/schema.ts';

const example = {
  id: examples.channelId,
  name: 'on call',
  kind: 'webhook',
  enabled: true,
  config: { url: 'https://example.com/hook' },
  secrets: ['secret'],
  created_at: examples.time,
  updated_at: examples.time,
};

const strict = { additionalProperties: false } as const;
const name = OneLine(100);
const webAddress = Type.String({ maxLength: 2000, pattern: '^https?://[^\\s@]+$' });
const mailAddress = Type.String({ maxLength: 320, pattern: '^[^@\\s<>]+@[^@\\s<>]+$' });
const secret = Type.String({ minLength: 1, maxLength: 2000, pattern: '^\\S+$' });

export const EmailConfig = Type.Object(
  {
    host: Type.String({ minLength: 1, maxLength: 253, pattern: '^[A-Za-z0-9.:_-]+$' }),
    port: Type.Optional(Type.Integer({ minimum: 1, maximum: 65535 })),
    security: Type.Optional(Type.Enum(mailSecurities)),
    username: Type.Optional(Nullable(Type.String({ minLength: 1, maxLength: 320 }))),
    password: Type.Optional(Type.String({ minLength: 1, maxLength: 2000 })),
    from: mailAddress,
    to: Type.Array(mailAddress, { minItems: 1, maxItems: 50 }),
  },
  strict,
);

export const TelegramConfig = Type.Object(
  {
    service: Type.Literal('telegram'),
    chat_id: Type.String({ minLength: 1, maxLength: 100, pattern: '^[@\\w-]+$' }),
    token: Type.Optional(Type.String({ maxLength: 200, pattern: '^[\\w:-]+$' })),
    server: Type.Optional(webAddress),
  },
  strict,
);

export const PagerDutyConfig = Type.Object(
  {
    service: Type.Literal('pagerduty'),
    routing_key: Type.Optional(Type.String({ maxLength: 200, pattern: '^\\w+$' })),
    server: Type.Optional(webAddress),
  },
  strict,
);

export const ChatConfig = Type.Object(
  { service: Type.Enum(chatServices), url: Type.Optional(webAddress) },
  strict,
);

export const WebhookConfig = Type.Object({ url: webAddress }, strict);

export const InAppConfig = Type.Object(
  { group_id: Type.Optional(Nullable(Uuid('Null for the group of the script.'))) },
  strict,
);

const config = Type.Object(
  {},
  {
    additionalProperties: true,
    description:
      '`email`: `host`, `port` (587), `security` (`starttls`, `tls`, `none`), `username`, `password`, ' +
      '`from`, `to` (a list). `messaging`: as `service`, `telegram` with `chat_id` and `token`; `slack`, ' +
      '`discord`, `mattermost` or `teams` with the `url` of an incoming webhook; `pagerduty` with ' +
      '`routing_key`. `webhook`: `url`. `in_app`: ' +
      '`group_id`, null for the group of the script. `password`, `token`, `routing_key` and the ' +
      'chat `url` are never ' +
      'returned. Secrets that a change omits are kept.',
  },
);

const channel = {
  id: Uuid(),
  name,
  kind: Type.Enum(channelKinds),
  enabled: Type.Boolean(),
  config,
  secrets: Type.Array(secret, {
    description: 'Names of the stored secrets. Their values are never returned.',
  }),
  created_at: Time(),
  updated_at: Time(),
};

export const Channel = Type.Object(channel, { title: 'Channel', ...strict, examples: [example] });
export const ChannelPage = Page('ChannelPage', Channel);

export const ShownChannel = Type.Object(
  {
    ...channel,
    secret: Type.Optional(
      Type.String({
        description:
          'Secret that signs webhooks. Returned once. A replayed response omits the value.',
      }),
    ),
  },
  { title: 'ShownChannel', ...strict, examples: [{ ...example, secret: 'whsec_…' }] },
);

export const NewChannel = Type.Object(
  {
    name,
    kind: Type.Enum(channelKinds),
    enabled: Type.Optional(Type.Boolean({ default: true })),
    config,
  },
  { title: 'ChannelInput', ...strict },
);

export const ChannelChange = Type.Object(
  {
    name: Type.Optional(name),
    enabled: Type.Optional(Type.Boolean()),
    config: Type.Optional(config),
  },
  { title: 'ChannelChange', ...strict },
);
