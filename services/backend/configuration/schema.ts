/** The configuration document and the result of an import (contract §3, "Configuration"). */
import { maxCalendarName, maxPeriods } from '#domain/calendar/calendar.ts';
import Type, { type TSchema } from 'typebox';
import { Period } from '../calendars/schema.ts';
import { NewChain } from '../chains/schema.ts';
import { examples, Nullable, OneLine, Time, Uuid } from '../http/schema.ts';
import { NewChannel } from '../notifications/channel-schema.ts';
import { NewRule } from '../notifications/rule-schema.ts';
import { NewGroup } from '../people/schema.ts';
import { NewPool } from '../pools/schema.ts';
import { NewSchedule } from '../schedules/schema.ts';
import { NewScript } from '../scripts/schema.ts';
import { SecretStoreInput } from '../secret-stores/schema.ts';
import { RetentionChanges } from '../system/schema.ts';
import { NewWebhook } from '../webhooks/schema.ts';

const strict = { additionalProperties: false } as const;

/** Identifies configuration documents. */
export const documentFormat = 'orchestrator-configuration';
/** Incremented when older releases can no longer read a document. */
export const documentVersion = 1;

const id = Uuid(
  'Identifies the item in the document, also in references. An unknown ID creates a new item.',
);
const secrets = Type.Array(Type.String({ minLength: 1, maxLength: 128 }), {
  maxItems: 1000,
  description:
    "Names of the script's secrets. The document never contains values, and an import never sets them.",
});

const File = Type.Object(
  {
    path: Type.String({ minLength: 1, maxLength: 255 }),
    encoding: Type.Optional(Type.Enum(['utf-8', 'base64'], { default: 'utf-8' })),
    content: Type.String(),
  },
  { title: 'ConfigurationFile', ...strict },
);

const { template: _, ...scriptSettings } = NewScript.properties;

const items = {
  groups: Type.Object({ id, ...NewGroup.properties }, { title: 'ConfigurationGroup', ...strict }),
  secret_stores: Type.Object(
    { id, ...SecretStoreInput.properties },
    { title: 'ConfigurationSecretStore', ...strict },
  ),
  pools: Type.Object({ id, ...NewPool.properties }, { title: 'ConfigurationPool', ...strict }),
  scripts: Type.Object(
    {
      id,
      ...scriptSettings,
      enabled: Type.Optional(Type.Boolean()),
      secrets: Type.Optional(secrets),
      files: Type.Optional(
        Type.Array(File, {
          maxItems: 10_000,
          description: 'If omitted, the files stay unchanged, and a new script gets a sample file.',
        }),
      ),
    },
    { title: 'ConfigurationScript', ...strict },
  ),
  channels: Type.Object(
    { id, ...NewChannel.properties, secrets: Type.Optional(secrets) },
    { title: 'ConfigurationChannel', ...strict },
  ),
  rules: Type.Object({ id, ...NewRule.properties }, { title: 'ConfigurationRule', ...strict }),
  calendars: Type.Object(
    {
      id,
      name: OneLine(maxCalendarName),
      periods: Type.Array(Period, { maxItems: maxPeriods }),
      covered_until: Time('Recurring events are expanded up to this time.'),
    },
    { title: 'ConfigurationCalendar', ...strict },
  ),
  schedules: Type.Object(
    { id, ...NewSchedule.properties },
    { title: 'ConfigurationSchedule', ...strict },
  ),
  webhooks: Type.Object(
    { id, ...NewWebhook.properties },
    { title: 'ConfigurationWebhook', ...strict },
  ),
  chains: Type.Object({ id, ...NewChain.properties }, { title: 'ConfigurationChain', ...strict }),
};

const section = <T extends TSchema>(item: T) =>
  Type.Optional(Type.Array(item, { maxItems: 100_000 }));

/** The smallest valid document. */
export const emptyConfiguration = { format: documentFormat, format_version: documentVersion };

/** The lists of resources in a document. */
export const sections = Object.keys(items) as readonly (keyof typeof items)[];

export const Configuration = Type.Object(
  {
    format: Type.Literal(documentFormat),
    format_version: Type.Literal(documentVersion),
    groups: section(items.groups),
    secret_stores: section(items.secret_stores),
    pools: section(items.pools),
    scripts: section(items.scripts),
    channels: section(items.channels),
    rules: section(items.rules),
    calendars: section(items.calendars),
    schedules: section(items.schedules),
    webhooks: section(items.webhooks),
    chains: section(items.chains),
    retention: Type.Optional(RetentionChanges),
  },
  {
    title: 'ConfigurationDocument',
    ...strict,
    description: 'Omitted sections and fields stay unchanged. New items get default values.',
    examples: [emptyConfiguration],
  },
);

/** The schemas have no defaults, because fields that a document omits remain unchanged. */
export const enteredConfiguration = withoutDefaults(Configuration);

function withoutDefaults(schema: TSchema): TSchema {
  return JSON.parse(
    JSON.stringify(schema, (key, value: unknown) => (key === 'default' ? undefined : value)),
  ) as TSchema;
}

export const configurationKinds = [
  'group',
  'secret_store',
  'pool',
  'script',
  'channel',
  'rule',
  'calendar',
  'schedule',
  'webhook',
  'chain',
  'retention',
] as const;

const Difference = Type.Object(
  {
    kind: Type.Enum(configurationKinds),
    id: Nullable(Uuid('Null for platform-wide settings.')),
    name: Type.String({ description: 'Display name.' }),
    action: Type.Enum(['create', 'change', 'delete', 'unchanged', 'absent'], {
      description: '`absent`: the item is not in the document, but is kept.',
    }),
    changes: Type.Array(
      Type.Object(
        {
          field: Type.String({
            description: 'Path of the field, such as `limits.memory_bytes` or `files/main.py`.',
          }),
          from: Type.Unknown({ description: 'Null if there was no value.' }),
          to: Type.Unknown({ description: 'Null if the value is removed.' }),
        },
        { title: 'ConfigurationChange', ...strict },
      ),
    ),
    note: Nullable(
      Type.String({ description: 'Additional information or required steps, as text.' }),
    ),
  },
  { title: 'ConfigurationDifference', ...strict },
);

const counts = Type.Object(
  {
    create: Type.Integer(),
    change: Type.Integer(),
    delete: Type.Integer(),
    unchanged: Type.Integer(),
    absent: Type.Integer(),
  },
  strict,
);

const ShownSecret = Type.Object(
  {
    kind: Type.Enum(['webhook', 'channel']),
    id: Uuid(),
    name: Type.String(),
    token: Type.Optional(Type.String()),
    url: Type.Optional(Type.String({ description: 'URL of a webhook, including its token.' })),
    signing_secret: Type.Optional(Type.String()),
  },
  { title: 'ConfigurationSecret', ...strict },
);

export const ConfigurationImport = Type.Object(
  {
    dry_run: Type.Boolean({ description: 'Whether this was a dry run.' }),
    counts,
    items: Type.Array(Difference),
    missing_secrets: Type.Array(
      Type.Object(
        {
          kind: Type.Enum(['script', 'channel', 'secret_store']),
          id: Uuid(),
          name: Type.String(),
          secrets: Type.Array(Type.String()),
        },
        { title: 'ConfigurationMissing', ...strict },
      ),
      {
        description: 'Secrets in the document that have no value on this platform.',
      },
    ),
    shown_once: Type.Array(ShownSecret, {
      description: 'New tokens and secrets of created items. These values are not returned again.',
    }),
  },
  {
    title: 'ConfigurationImport',
    ...strict,
    examples: [
      {
        dry_run: true,
        counts: { create: 0, change: 1, delete: 0, unchanged: 4, absent: 0 },
        items: [
          {
            kind: 'group',
            id: examples.groupId,
            name: 'custom',
            action: 'change',
            changes: [{ field: 'color', from: '#64748b', to: '#0ea5e9' }],
            note: null,
          },
        ],
        missing_secrets: [],
        shown_once: [],
      },
    ],
  },
);
