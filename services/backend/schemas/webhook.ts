/** Webhooks on the wire. */
import { busyChoices, runStatuses } from '#domain/run/run.ts';
import Type from 'typebox';
import { examples, Nullable, Page, Time, Uuid } from './common.ts';

const example = {
  id: examples.webhookId,
  script_id: examples.scriptId,
  name: 'push',
  enabled: true,
  when_busy: 'refuse',
  rate_limit_per_minute: 60,
  created_at: examples.time,
  last_called_at: null,
};

const name = Type.String({ minLength: 1, maxLength: 100, pattern: '\\S' });
const settings = {
  name,
  enabled: Type.Boolean(),
  when_busy: Type.Enum(busyChoices, {
    description: 'What a call does that meets the limit of concurrent runs.',
  }),
  rate_limit_per_minute: Type.Integer({ minimum: 1, maximum: 6000 }),
};

const webhook = {
  id: Uuid(),
  script_id: Uuid(),
  ...settings,
  created_at: Time(),
  last_called_at: Nullable(Time()),
};

export const Webhook = Type.Object(webhook, {
  title: 'Webhook',
  additionalProperties: false,
  examples: [example],
});

export const WebhookPage = Page('WebhookPage', Webhook);

export const ShownWebhook = Type.Object(
  {
    ...webhook,
    token: Type.Optional(
      Type.String({ description: 'Shown once: a repeated answer leaves it out.' }),
    ),
    url: Type.Optional(Type.String({ description: 'Path to call, with the token. Shown once.' })),
  },
  {
    title: 'ShownWebhook',
    additionalProperties: false,
    examples: [
      {
        ...example,
        token: examples.webhookToken,
        url: `/hooks/${examples.webhookToken}`,
      },
    ],
  },
);

export const NewWebhook = Type.Object(
  {
    script_id: Uuid(),
    name: Type.Optional(name),
    enabled: Type.Optional(Type.Boolean({ default: true })),
    when_busy: Type.Optional(Type.Enum(busyChoices, { default: 'refuse' })),
    rate_limit_per_minute: Type.Optional(Type.Integer({ minimum: 1, maximum: 6000, default: 60 })),
  },
  { title: 'NewWebhook', additionalProperties: false },
);

export const WebhookChange = Type.Object(
  {
    name: Type.Optional(name),
    enabled: Type.Optional(settings.enabled),
    when_busy: Type.Optional(settings.when_busy),
    rate_limit_per_minute: Type.Optional(settings.rate_limit_per_minute),
  },
  { title: 'WebhookChange', additionalProperties: false },
);

export const HookAnswer = Type.Object(
  {
    run_id: Uuid(),
    status: Type.Enum(runStatuses),
    exit_code: Type.Optional(Nullable(Type.Integer())),
    output: Type.Optional(Type.Unknown({ description: 'What the script gave back.' })),
  },
  {
    title: 'HookAnswer',
    additionalProperties: false,
    examples: [{ run_id: examples.runId, status: 'queued' }],
  },
);
