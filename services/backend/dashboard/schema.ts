/** The dashboard's figures on the wire (contract §3, "System"). */
import { failures } from '#domain/run/run.ts';
import Type from 'typebox';
import { examples, Nullable, Time, Uuid } from '../http/schema.ts';

const count = (description?: string) =>
  Type.Integer({ minimum: 0, ...(description !== undefined && { description }) });
const milliseconds = (description: string) =>
  Nullable(Type.Integer({ minimum: 0, description: `${description} Within 5 %.` }));

export const DashboardStats = Type.Object(
  {
    scripts_total: count(),
    scripts_enabled: count(),
    runs_queued: count(),
    runs_running: count(),
    runs_24h: count('Runs that ended within the last 24 hours.'),
    success_rate_24h: Nullable(
      Type.Number({ minimum: 0, maximum: 1, description: 'Of those that succeeded or failed.' }),
    ),
    errors_24h: count('Those that failed.'),
    duration_p50_ms_24h: milliseconds('Half of them took no longer.'),
    duration_p95_ms_24h: milliseconds('95 of 100 took no longer.'),
    queue_p95_ms_24h: milliseconds('95 of 100 waited no longer for their start.'),
    runtimes: Type.Array(
      Type.Object(
        {
          id: Type.String(),
          started_at: Time(),
          seen_at: Time(),
          slots: count('Runs that it executes at once.'),
          running: count(),
        },
        { title: 'DashboardRuntime', additionalProperties: false },
      ),
      { description: 'Those that reported within the last minute.' },
    ),
  },
  {
    title: 'DashboardStats',
    additionalProperties: false,
    examples: [
      {
        scripts_total: 12,
        scripts_enabled: 10,
        runs_queued: 1,
        runs_running: 3,
        runs_24h: 1440,
        success_rate_24h: 0.985,
        errors_24h: 21,
        duration_p50_ms_24h: 840,
        duration_p95_ms_24h: 5120,
        queue_p95_ms_24h: 48,
        runtimes: [
          {
            id: 'runtime-1',
            started_at: examples.time,
            seen_at: examples.time,
            slots: 4,
            running: 3,
          },
        ],
      },
    ],
  },
);

export const metricNames = ['runs', 'errors', 'duration', 'queue', 'cpu', 'memory'] as const;
export type MetricName = (typeof metricNames)[number];

export const Timeseries = Type.Object(
  {
    bucket_seconds: Type.Integer(),
    series: Type.Array(
      Type.Object(
        {
          name: Type.String(),
          points: Type.Array(
            Type.Unsafe<readonly [string, number | null]>({
              type: 'array',
              prefixItems: [{ type: 'string', format: 'date-time' }, { type: ['number', 'null'] }],
              // Generators of clients accept a schema here, not `false`.
              items: {},
              minItems: 2,
              maxItems: 2,
            }),
            { description: 'Each bucket by its beginning, also those without any run.' },
          ),
        },
        { title: 'Series', additionalProperties: false },
      ),
    ),
  },
  {
    title: 'Timeseries',
    additionalProperties: false,
    examples: [
      {
        bucket_seconds: 3600,
        series: [{ name: 'failed', points: [['2026-11-21T02:00:00.000Z', 3]] }],
      },
    ],
  },
);

/** How long the runs of a script usually take. */
export const UsualDuration = Type.Object(
  {
    runs: Type.Integer({ minimum: 1, description: 'How many of the latest it is known from.' }),
    p50_ms: Type.Integer({ minimum: 0, description: 'Half of them took no longer.' }),
    p95_ms: Type.Integer({ minimum: 0, description: '95 of 100 took no longer.' }),
  },
  {
    title: 'UsualDuration',
    description: 'Of those of the latest 100 runs that succeeded; `null` without any.',
    additionalProperties: false,
  },
);
export const usualExample = { runs: 96, p50_ms: 61_200, p95_ms: 340_000 };

const scriptExample = { script_id: examples.scriptId, script_name: 'Nightly report' };

export const DashboardNow = Type.Object(
  {
    failing_total: count('Scripts that are enabled and whose last run failed.'),
    failing: Type.Array(
      Type.Object(
        {
          script_id: Uuid(),
          script_name: Type.String(),
          run_id: Uuid(),
          finished_at: Time(),
          failure_reason: Nullable(Type.Enum([...failures])),
        },
        { title: 'FailingScript', additionalProperties: false },
      ),
      { description: 'The latest failure first.' },
    ),
    running: Type.Array(
      Type.Object(
        {
          script_id: Uuid(),
          script_name: Type.String(),
          run_id: Uuid(),
          started_at: Nullable(Time()),
          usual: Nullable(UsualDuration),
        },
        { title: 'RunningNow', additionalProperties: false },
      ),
      { description: 'The newest first.' },
    ),
    due: Type.Array(
      Type.Object(
        { script_id: Uuid(), script_name: Type.String(), schedule_id: Uuid(), due_at: Time() },
        { title: 'DueSchedule', additionalProperties: false },
      ),
      { description: 'The next due time of each schedule, the nearest first.' },
    ),
  },
  {
    title: 'DashboardNow',
    additionalProperties: false,
    examples: [
      {
        failing_total: 1,
        failing: [
          {
            ...scriptExample,
            run_id: examples.runId,
            finished_at: examples.time,
            failure_reason: 'exit_code',
          },
        ],
        running: [
          {
            ...scriptExample,
            run_id: examples.runId,
            started_at: examples.time,
            usual: usualExample,
          },
        ],
        due: [{ ...scriptExample, schedule_id: examples.webhookId, due_at: examples.time }],
      },
    ],
  },
);

export const DashboardFires = Type.Object(
  {
    from: Time('Now.'),
    to: Time('24 hours from now.'),
    counted_until: Time('Up to where due times were counted: `to`, unless there are too many.'),
    hours: Type.Array(
      Type.Object(
        { begins_at: Time('On the hour, in UTC; the first is now.'), due: count() },
        { title: 'HourOfFires', additionalProperties: false },
      ),
    ),
  },
  {
    title: 'DashboardFires',
    additionalProperties: false,
    examples: [
      {
        from: '2026-11-21T02:30:00.000Z',
        to: '2026-11-22T02:30:00.000Z',
        counted_until: '2026-11-22T02:30:00.000Z',
        hours: [{ begins_at: '2026-11-21T02:30:00.000Z', due: 3 }],
      },
    ],
  },
);
