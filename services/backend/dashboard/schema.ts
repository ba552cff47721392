/** The wire format of the dashboard's statistics (contract §3, "System"). */
import { failures } from '#domain/run/run.ts';
import Type from 'typebox';
import { Exact, examples, Nullable, Time, Uuid } from '../http/schema.ts';

export const count = (description?: string) =>
  Type.Integer({ minimum: 0, ...(description !== undefined && { description }) });
export const milliseconds = (description: string) =>
  Nullable(Type.Integer({ minimum: 0, description: `${description} Accurate to within 5%.` }));

export const runtimes = Type.Array(
  Exact(
    {
      id: Type.String(),
      started_at: Time(),
      seen_at: Time(),
      slots: count('Number of runs that the runtime executes concurrently.'),
      running: count(),
    },
    { title: 'DashboardRuntime' },
  ),
  { description: 'Runtimes that reported within the last minute.' },
);

export const DashboardStats = Exact(
  {
    scripts_total: count(),
    scripts_enabled: count(),
    runs_queued: count(),
    runs_running: count(),
    runs_24h: count('Number of runs that ended within the last 24 hours.'),
    success_rate_24h: Nullable(
      Type.Number({
        minimum: 0,
        maximum: 1,
        description: 'Share of successful runs among runs that succeeded or failed.',
      }),
    ),
    errors_24h: count('Number of failed runs.'),
    duration_p50_ms_24h: milliseconds('Median (p50).'),
    duration_p95_ms_24h: milliseconds('95th percentile (p95).'),
    queue_p95_ms_24h: milliseconds('95th percentile (p95) of the time in the queue.'),
    runtimes,
  },
  {
    title: 'DashboardStats',
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

export const Series = Exact(
  {
    name: Type.String(),
    points: Type.Array(
      Type.Unsafe<readonly [string, number | null]>({
        type: 'array',
        prefixItems: [{ type: 'string', format: 'date-time' }, { type: ['number', 'null'] }],
        // Client generators require a schema here and reject `false`.
        items: {},
        minItems: 2,
        maxItems: 2,
      }),
      {
        description:
          'One point per bucket, identified by the start of the bucket. Buckets without runs are included.',
      },
    ),
  },
  { title: 'Series' },
);

export const Timeseries = Exact(
  { bucket_seconds: Type.Integer(), series: Type.Array(Series) },
  {
    title: 'Timeseries',
    examples: [
      {
        bucket_seconds: 3600,
        series: [{ name: 'failed', points: [['2026-11-21T02:00:00.000Z', 3]] }],
      },
    ],
  },
);

/** Duration statistics of a script. */
export const UsualDuration = Type.Object(
  {
    runs: Type.Integer({
      minimum: 1,
      description: 'Number of recent runs that the statistics are based on.',
    }),
    p50_ms: Type.Integer({ minimum: 0, description: 'Median (p50).' }),
    p95_ms: Type.Integer({ minimum: 0, description: '95th percentile (p95).' }),
  },
  {
    title: 'UsualDuration',
    description:
      'Durations of the successful runs among the last 100 runs of the script; `null` without successful runs.',
    additionalProperties: false,
  },
);
export const durationStatsExample = { runs: 96, p50_ms: 61_200, p95_ms: 340_000 };

const scriptExample = { script_id: examples.scriptId, script_name: 'Nightly report' };

export const DashboardNow = Exact(
  {
    failing_total: count('Number of enabled scripts whose last run failed.'),
    failing: Type.Array(
      Exact(
        {
          script_id: Uuid(),
          script_name: Type.String(),
          run_id: Uuid(),
          finished_at: Time(),
          failure_reason: Nullable(Type.Enum([...failures])),
        },
        { title: 'FailingScript' },
      ),
      { description: 'Latest failure first.' },
    ),
    running: Type.Array(
      Exact(
        {
          script_id: Uuid(),
          script_name: Type.String(),
          run_id: Uuid(),
          started_at: Nullable(Time()),
          usual: Nullable(UsualDuration),
        },
        { title: 'RunningNow' },
      ),
      { description: 'Newest first.' },
    ),
    due: Type.Array(
      Exact(
        { script_id: Uuid(), script_name: Type.String(), schedule_id: Uuid(), due_at: Time() },
        { title: 'DueSchedule' },
      ),
      { description: 'The next due time of each schedule, nearest first.' },
    ),
  },
  {
    title: 'DashboardNow',
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
            usual: durationStatsExample,
          },
        ],
        due: [{ ...scriptExample, schedule_id: examples.webhookId, due_at: examples.time }],
      },
    ],
  },
);

export const DashboardFires = Exact(
  {
    from: Time('Start of the period: the current time.'),
    to: Time('End of the period: 24 hours after `from`.'),
    counted_until: Time(
      'End of the counted range. Equal to `to` unless there are too many due times.',
    ),
    hours: Type.Array(
      Exact(
        {
          begins_at: Time('Start of the hour in UTC. The first item is the current hour.'),
          due: count(),
        },
        { title: 'HourOfFires' },
      ),
    ),
  },
  {
    title: 'DashboardFires',
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
