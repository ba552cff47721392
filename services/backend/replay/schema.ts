/** The wire format of the platform's historical state. */
import { chainConditions } from '#domain/chain/chain.ts';
import { busyChoices, triggerTypes } from '#domain/run/run.ts';
import { catchUps, overlaps } from '#domain/schedule/schedule.ts';
import Type, { type TObject, type TProperties } from 'typebox';
import { account, accountExample } from '../access/schema.ts';
import { Exact, examples, Nullable, Page, Time, Uuid } from '../http/schema.ts';
import { Group } from '../people/schema.ts';
import type { ReplayKind } from './platform-at.ts';

const shape = <Properties extends TProperties>(
  title: string,
  properties: Properties,
  example: object,
) => Exact(properties, { title, examples: [example] });

const created = { created_at: Time(), created_by: Type.String() };
const createdExample = { created_at: examples.time, created_by: 'ada@example.com' };

const PastUser = shape(
  'PastUser',
  {
    ...account,
    rights: Type.Array(Type.String(), {
      description:
        'The rights of the account within its groups. Administrators have these rights in all groups.',
    }),
  },
  { ...accountExample, rights: ['scripts.list', 'runs.read'] },
);

const PastScript = shape(
  'PastScript',
  {
    id: Uuid(),
    name: Type.String(),
    description: Type.String(),
    group_id: Uuid(),
    enabled: Type.Boolean(),
    version: Type.Integer({ minimum: 1 }),
    entrypoint: Type.String(),
    max_concurrent_runs: Type.Integer(),
    keep_alive: Type.Boolean(),
    files: Type.Integer({ description: 'Number of files.' }),
    storage_used_bytes: Type.Integer(),
    ...created,
  },
  {
    id: examples.scriptId,
    name: 'Night report',
    description: '',
    group_id: examples.groupId,
    enabled: true,
    version: 3,
    entrypoint: 'main.py',
    max_concurrent_runs: 1,
    keep_alive: false,
    files: 2,
    storage_used_bytes: 812,
    ...createdExample,
  },
);

const PastSchedule = shape(
  'PastSchedule',
  {
    id: Uuid(),
    script_id: Uuid(),
    name: Nullable(Type.String()),
    kind: Type.Enum(['cron', 'interval', 'once']),
    cron: Nullable(Type.String()),
    timezone: Type.String(),
    interval_seconds: Nullable(Type.Integer()),
    once_at: Nullable(Time()),
    start_at: Nullable(Time()),
    end_at: Nullable(Time()),
    enabled: Type.Boolean(),
    catch_up: Type.Enum(catchUps),
    max_lateness_seconds: Type.Integer(),
    overlap: Type.Enum(overlaps),
    calendar_id: Nullable(Uuid()),
    version: Type.Integer(),
    ...created,
  },
  {
    id: examples.scriptId,
    script_id: examples.scriptId,
    name: null,
    kind: 'cron',
    cron: '30 2 * * *',
    timezone: 'UTC',
    interval_seconds: null,
    once_at: null,
    start_at: null,
    end_at: null,
    enabled: true,
    catch_up: 'last',
    max_lateness_seconds: 3600,
    overlap: 'skip',
    calendar_id: null,
    version: 1,
    ...createdExample,
  },
);

const PastWebhook = shape(
  'PastWebhook',
  {
    id: Uuid(),
    script_id: Uuid(),
    name: Type.String(),
    enabled: Type.Boolean(),
    when_busy: Type.Enum(busyChoices),
    rate_limit_per_minute: Type.Integer(),
    ...created,
  },
  {
    id: examples.webhookId,
    script_id: examples.scriptId,
    name: 'push',
    enabled: true,
    when_busy: 'refuse',
    rate_limit_per_minute: 60,
    ...createdExample,
  },
);

const PastChain = shape(
  'PastChain',
  {
    id: Uuid(),
    source_script_id: Uuid(),
    target_script_id: Uuid(),
    on: Type.Enum(chainConditions),
    enabled: Type.Boolean(),
    when_busy: Type.Enum(busyChoices),
    ...created,
  },
  {
    id: examples.scriptId,
    source_script_id: examples.scriptId,
    target_script_id: examples.scriptId,
    on: 'success',
    enabled: true,
    when_busy: 'queue',
    ...createdExample,
  },
);

const PastRun = shape(
  'PastRun',
  {
    run_id: Uuid(),
    script_id: Uuid(),
    script_name: Type.String(),
    script_version: Type.Integer(),
    status: Type.Enum(['queued', 'running']),
    waiting: Type.Boolean(),
    trigger_type: Type.Enum(triggerTypes),
    requested_by: Type.String(),
    attempt: Type.Integer(),
    queued_at: Time(),
    started_at: Nullable(Time()),
    runtime_id: Nullable(Type.String()),
  },
  {
    run_id: examples.runId,
    script_id: examples.scriptId,
    script_name: 'Night report',
    script_version: 3,
    status: 'running',
    waiting: false,
    trigger_type: 'schedule',
    requested_by: 'scheduler',
    attempt: 1,
    queued_at: examples.time,
    started_at: examples.time,
    runtime_id: 'runtime-1',
  },
);

export const replayPages = {
  groups: Page('PastGroupPage', Group),
  users: Page('PastUserPage', PastUser),
  scripts: Page('PastScriptPage', PastScript),
  schedules: Page('PastSchedulePage', PastSchedule),
  webhooks: Page('PastWebhookPage', PastWebhook),
  chains: Page('PastChainPage', PastChain),
  runs: Page('PastRunPage', PastRun),
} as const satisfies Record<ReplayKind, TObject>;

const At = Type.String({ description: 'The requested time or position.' });

export const Replay = Exact(
  { at: At, paused: Type.Boolean(), ...replayPages },
  {
    title: 'Replay',
    description: 'The first page of each list. Each list has its own path for further pages.',
  },
);

const AnyPast = Type.Object({}, { additionalProperties: true });

export const ReplayDifferences = Exact(
  {
    from: At,
    to: At,
    items: Type.Array(
      Exact(
        {
          kind: Type.Enum(['group', 'user', 'script', 'schedule', 'webhook', 'chain']),
          id: Uuid(),
          change: Type.Enum(['created', 'changed', 'deleted']),
          fields: Type.Array(Type.String(), {
            description: 'The changed fields of a changed resource.',
          }),
          before: Nullable(AnyPast),
          after: Nullable(AnyPast),
        },
        { title: 'ReplayDifference' },
      ),
    ),
    next_cursor: Nullable(Type.String()),
  },
  { title: 'ReplayDifferences' },
);
