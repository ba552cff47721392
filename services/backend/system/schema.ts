/** The wire format of platform information and settings. */
import { maxRetentionDays } from '#domain/system/retention.ts';
import { alarmNames } from '#domain/system/alarms.ts';
import { closeReasons } from '#services/shared/connections/connection-limits.ts';
import Type from 'typebox';
import { Exact, examples, Nullable, Time } from '../http/schema.ts';

const triggerStateExample = {
  paused: true,
  since: examples.time,
  by: 'ada@example.com',
};

export const TriggerState = Exact(
  {
    paused: Type.Boolean({ description: 'Whether automatic triggers are paused.' }),
    since: Nullable(Time()),
    by: Nullable(Type.String({ description: 'Who last paused or resumed the triggers.' })),
  },
  { title: 'TriggerState', examples: [triggerStateExample] },
);

const count = Type.Integer({ minimum: 0 });

export const SystemInfo = Exact(
  {
    name: Type.String(),
    version: Type.String(),
    edition: Type.Enum(['minimal', 'production']),
    uptime_seconds: Type.Integer({ minimum: 0 }),
    services: Type.Array(
      Exact(
        {
          name: Type.String(),
          id: Type.String(),
          started_at: Time(),
          seen_at: Time(),
          slots: Type.Optional(
            Type.Integer({ description: 'Number of runs that the runtime executes concurrently.' }),
          ),
          running: Type.Optional(Type.Integer()),
          layers: Type.Optional(
            Type.Array(
              Type.Object(
                {
                  name: Type.String(),
                  available: Type.Boolean(),
                  purpose: Type.String(),
                  detail: Type.Union([Type.String(), Type.Null()], {
                    description: 'Why the layer is inactive, or how to enable it.',
                  }),
                },
                { title: 'SandboxLayer', additionalProperties: true },
              ),
              { description: 'Layers of the sandbox.' },
            ),
          ),
          python: Type.Optional(Type.Union([Type.String(), Type.Null()])),
        },
        { title: 'ServiceInfo' },
      ),
    ),
    triggers: TriggerState,
    event_position: Type.Integer({ minimum: 0 }),
    projections: Type.Array(
      Exact(
        {
          name: Type.String(),
          version: Type.Integer(),
          position: Type.Integer(),
          lag: Type.Integer({
            description: 'Number of events that the projection has not yet applied.',
          }),
        },
        { title: 'ProjectionInfo' },
      ),
    ),
    alarms: Type.Array(
      Exact({ name: Type.Enum(alarmNames), detail: Type.String() }, { title: 'Alarm' }),
      { description: 'Problems for an operator to fix before they affect the platform.' },
    ),
    connections: Type.Object(
      {
        open: count,
        limit: count,
        limit_per_address: count,
        closed: Type.Object(Object.fromEntries(closeReasons.map((reason) => [reason, count])), {
          description:
            'Connections closed or rejected because of a limit or timeout since the process started.',
        }),
      },
      {
        title: 'ConnectionInfo',
        description: 'Connections of the backend that served the request.',
        additionalProperties: false,
      },
    ),
    query_gaps: Type.Integer({
      minimum: 0,
      description:
        'Number of database functions, relations and parameters that script queries can access although they are ' +
        'not allowed. Unless the number is 0, runtimes reject queries, except with `ORCH_QUERY_LENIENT`.',
    }),
  },
  {
    title: 'SystemInfo',
    examples: [
      {
        name: 'Script Orchestration Service',
        version: '0.1.13',
        edition: 'minimal',
        uptime_seconds: 3600,
        services: [
          {
            name: 'runtime',
            id: 'runtime-1',
            started_at: examples.time,
            seen_at: examples.time,
            slots: 4,
            running: 1,
            layers: [
              {
                name: 'session',
                available: true,
                purpose: 'Own session and process group',
                detail: null,
              },
            ],
            python: '3.12.3',
          },
        ],
        triggers: { paused: false, since: null, by: null },
        event_position: 1204,
        projections: [{ name: 'audit', version: 1, position: 1204, lag: 0 }],
        alarms: [{ name: 'backup_overdue', detail: 'A backup was due 2 hours ago.' }],
        connections: {
          open: 12,
          limit: 9872,
          limit_per_address: 1000,
          closed: Object.fromEntries(closeReasons.map((reason) => [reason, 0])),
        },
        query_gaps: 0,
      },
    ],
  },
);

const days = (what: string) =>
  Nullable(Type.Integer({ minimum: 1, maximum: maxRetentionDays, description: what }));

const daySchemas = {
  logs_days: days('Run logs.'),
  samples_days: days('Resource usage samples of runs.'),
  artifacts_days: days('Artifacts of runs.'),
  payloads_days: days('Parameters of runs, and bodies of webhook calls.'),
};
const daysExample = { logs_days: 90, samples_days: 30, artifacts_days: null, payloads_days: 30 };

export const Retention = Type.Object(
  {
    ...daySchemas,
    changed_at: Nullable(Time()),
    changed_by: Nullable(Type.String()),
  },
  {
    title: 'Retention',
    description: 'How long data stays available after the end of a run, in days; `null`: forever.',
    additionalProperties: false,
    examples: [{ ...daysExample, changed_at: examples.time, changed_by: 'ada@example.com' }],
  },
);

export const RetentionChanges = Type.Object(
  {
    logs_days: Type.Optional(daySchemas.logs_days),
    samples_days: Type.Optional(daySchemas.samples_days),
    artifacts_days: Type.Optional(daySchemas.artifacts_days),
    payloads_days: Type.Optional(daySchemas.payloads_days),
  },
  {
    title: 'RetentionChanges',
    description: 'Omitted fields stay unchanged; `null` keeps data forever.',
    additionalProperties: false,
    examples: [daysExample],
  },
);

const HealthStatus = Type.Enum(['ok', 'degraded', 'unavailable']);

export const Health = Exact(
  {
    status: HealthStatus,
    checks: Type.Optional(Type.Record(Type.String(), HealthStatus)),
  },
  { title: 'Health', examples: [{ status: 'ok' }] },
);
