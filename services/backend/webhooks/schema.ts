/** The wire format of webhooks. */
import { busyChoices, runStatuses } from '#domain/run/run.ts';
import Type from 'typebox';
import { Exact, examples, Nullable, Page, Time, Uuid, OneLine } from '../http/schema.ts';

const example = {
  id: examples.webhookId,
  script_id: examples.scriptId,
  name: 'push',
  enabled: true,
  when_busy: 'refuse',
  rate_limit_per_minute: 60,
  signing: false,
  created_at: examples.time,
  last_called_at: null,
};

const name = OneLine(100);
const settings = {
  name,
  enabled: Type.Boolean(),
  when_busy: Type.Enum(busyChoices, {
    description: 'What to do when the limit of concurrent runs is reached.',
  }),
  rate_limit_per_minute: Type.Integer({ minimum: 1, maximum: 6000 }),
  signing: Type.Boolean({
    description: 'The signature that calls require: Standard Webhooks or GitHub.',
  }),
};

const webhook = {
  id: Uuid(),
  script_id: Uuid(),
  ...settings,
  created_at: Time(),
  last_called_at: Nullable(Time()),
};

export const Webhook = Exact(webhook, {
  title: 'Webhook',
  examples: [example],
});

export const WebhookPage = Page('WebhookPage', Webhook);

export const ShownWebhook = Exact(
  {
    ...webhook,
    token: Type.Optional(
      Type.String({ description: 'Returned once. A replayed response omits the value.' }),
    ),
    url: Type.Optional(
      Type.String({ description: 'URL to call, including the token. Returned once.' }),
    ),
    signing_secret: Type.Optional(
      Type.String({
        description: 'Secret for signing calls, only if it was just created. Returned once.',
      }),
    ),
  },
  {
    title: 'ShownWebhook',
    examples: [
      {
        ...example,
        token: examples.webhookToken,
        url: `https://orchestrator.example.com/hooks/${examples.webhookToken}`,
      },
    ],
  },
);

export const NewWebhook = Exact(
  {
    script_id: Uuid(),
    name: Type.Optional(name),
    enabled: Type.Optional(Type.Boolean({ default: true })),
    when_busy: Type.Optional(Type.Enum(busyChoices, { default: 'refuse' })),
    rate_limit_per_minute: Type.Optional(Type.Integer({ minimum: 1, maximum: 6000, default: 60 })),
    signing: Type.Optional(Type.Boolean({ default: false })),
  },
  { title: 'WebhookInput' },
);

export const WebhookChange = Exact(
  {
    name: Type.Optional(name),
    enabled: Type.Optional(settings.enabled),
    when_busy: Type.Optional(settings.when_busy),
    rate_limit_per_minute: Type.Optional(settings.rate_limit_per_minute),
    signing: Type.Optional(settings.signing),
  },
  { title: 'WebhookChange' },
);

export const WebhookRotation = Exact(
  { what: Type.Optional(Type.Enum(['token', 'signing_secret'], { default: 'token' })) },
  { title: 'WebhookRotation' },
);

const Delivery = Exact(
  {
    id: Uuid('ID of the delivery. Equal to `run_id` if the call started a run.'),
    time: Time(),
    outcome: Type.Enum(['queued', 'repeated', 'refused'], {
      description:
        '`repeated`: a duplicate call that started no run. The response contains the original run.',
    }),
    status: Type.Integer({ description: 'HTTP status of the response.' }),
    reason: Nullable(Type.String({ description: 'Reason code of the rejection.' })),
    run_id: Nullable(Uuid()),
    ip: Nullable(
      Type.String({
        description: 'IP address of the caller, or of the user who requested the redelivery.',
      }),
    ),
    size_bytes: Nullable(
      Type.Integer({ minimum: 0, description: 'Size of the body, if it was read.' }),
    ),
    count: Type.Integer({
      minimum: 1,
      description: 'Number of rejected calls that the entry combines.',
    }),
    redelivery_of: Nullable(Uuid('The original delivery.')),
    redeliverable: Type.Boolean({
      description: 'Whether the payload is still available for a redelivery.',
    }),
  },
  {
    title: 'WebhookDelivery',
    examples: [
      {
        id: examples.runId,
        time: examples.time,
        outcome: 'queued',
        status: 202,
        reason: null,
        run_id: examples.runId,
        ip: '192.0.2.1',
        size_bytes: 412,
        count: 1,
        redelivery_of: null,
        redeliverable: true,
      },
    ],
  },
);

export const DeliveryContent = Type.Object(
  {
    headers: Type.Record(Type.String(), Type.String(), {
      description: 'The descriptive headers of the call, as scripts receive them.',
    }),
    body: Type.String({ description: 'The start of the body, in `encoding`.' }),
    encoding: Type.Enum(['utf-8', 'base64'], { description: '`base64` for binary bodies.' }),
    truncated: Type.Boolean({ description: 'Whether the body is longer than 64 KiB.' }),
  },
  {
    title: 'WebhookDeliveryContent',
    additionalProperties: false,
    examples: [
      {
        headers: { 'content-type': 'application/json' },
        body: '{"order": 42}',
        encoding: 'utf-8',
        truncated: false,
      },
    ],
  },
);

export const DeliveryPage = Page('WebhookDeliveryPage', Delivery);

export const HookAnswer = Exact(
  {
    run_id: Uuid(),
    status: Type.Enum(runStatuses),
    exit_code: Type.Optional(Nullable(Type.Integer())),
    output: Type.Optional(Type.Unknown({ description: 'The output of the script.' })),
  },
  {
    title: 'HookAnswer',
    examples: [{ run_id: examples.runId, status: 'queued' }],
  },
);
