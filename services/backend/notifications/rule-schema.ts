/** The wire format of notification rules and deliveries. */
import { notifiableEvents } from '#domain/notification/notification.ts';
import { noticeLevels } from '#domain/notice/events.ts';
import { deliveryStatuses } from '#projections/deliveries/table.ts';
import Type from 'typebox';
import { examples, Nullable, Page, Time, Uuid, OneLine } from '../http/schema.ts';

const strict = { additionalProperties: false } as const;
const ids = (description: string, least = 0) =>
  Type.Array(Uuid(), { description, minItems: least, maxItems: 100, uniqueItems: true });

const settings = {
  name: OneLine(100),
  enabled: Type.Boolean({ default: true }),
  on: Type.Array(Type.Enum(notifiableEvents), { minItems: 1, uniqueItems: true }),
  failed_times: Type.Integer({
    minimum: 2,
    maximum: 100,
    default: 3,
    description:
      'Number of consecutive failures for `failed_n_times`. One notification is sent when the ' +
      'number is reached.',
  }),
  script_ids: ids('Limits the rule to these scripts.'),
  group_ids: ids(
    'Limits the rule to the scripts in these groups. Without scripts and groups, the rule applies to all ' +
      'scripts.',
  ),
  channel_ids: Type.Array(Uuid(), { minItems: 1, maxItems: 20, uniqueItems: true }),
};

export const Rule = Type.Object(
  { id: Uuid(), ...settings, created_at: Time(), updated_at: Time() },
  {
    title: 'NotificationRule',
    ...strict,
    examples: [
      {
        id: examples.ruleId,
        name: 'failures',
        enabled: true,
        on: ['failed', 'recovered'],
        failed_times: 3,
        script_ids: [],
        group_ids: [examples.groupId],
        channel_ids: [examples.channelId],
        created_at: examples.time,
        updated_at: examples.time,
      },
    ],
  },
);
export const RulePage = Page('NotificationRulePage', Rule);

export const NewRule = Type.Object(
  {
    ...settings,
    enabled: Type.Optional(settings.enabled),
    failed_times: Type.Optional(settings.failed_times),
    script_ids: Type.Optional(settings.script_ids),
    group_ids: Type.Optional(settings.group_ids),
  },
  { title: 'NotificationRuleInput', ...strict },
);

export const RuleChange = Type.Object(
  {
    name: Type.Optional(settings.name),
    enabled: Type.Optional(Type.Boolean()),
    on: Type.Optional(settings.on),
    failed_times: Type.Optional(Type.Integer({ minimum: 2, maximum: 100 })),
    script_ids: Type.Optional(settings.script_ids),
    group_ids: Type.Optional(settings.group_ids),
    channel_ids: Type.Optional(settings.channel_ids),
  },
  { title: 'NotificationRuleChange', ...strict },
);

export const deliveryStatus = Type.Enum(deliveryStatuses);

export const Delivery = Type.Object(
  {
    id: Uuid('Sent to webhooks as `webhook-id`, identical for each attempt.'),
    channel_id: Uuid(),
    rule_id: Nullable(Uuid('Null for a test notification.')),
    status: deliveryStatus,
    on: Type.Enum([...notifiableEvents, 'test']),
    level: Type.Enum(noticeLevels),
    message: Type.String(),
    script_id: Nullable(Uuid()),
    script_name: Nullable(Type.String()),
    run_id: Nullable(Uuid()),
    attempts: Type.Integer({ description: 'Number of finished attempts.' }),
    last_error: Nullable(Type.String()),
    queued_at: Time(),
    next_attempt_at: Nullable(Time()),
    ended_at: Nullable(Time()),
  },
  {
    title: 'NotificationDelivery',
    ...strict,
    examples: [
      {
        id: examples.notificationDeliveryId,
        channel_id: examples.channelId,
        rule_id: examples.ruleId,
        status: 'pending',
        on: 'failed',
        level: 'error',
        message: 'The run failed with exit code 1.',
        script_id: examples.scriptId,
        script_name: 'Nightly report',
        run_id: examples.runId,
        attempts: 1,
        last_error: 'The receiver returned 500',
        queued_at: examples.time,
        next_attempt_at: examples.time,
        ended_at: null,
      },
    ],
  },
);
export const DeliveryPage = Page('NotificationDeliveryPage', Delivery);
