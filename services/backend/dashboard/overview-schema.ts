/** The wire format of the dashboard's first page. */
import Type from 'typebox';
import { runStatuses } from '#domain/run/run.ts';
import { Exact, examples, Nullable, Time, Uuid } from '../http/schema.ts';
import { RecentRun } from '../scripts/schema.ts';
import {
  count,
  DashboardFires,
  DashboardNow,
  metricNames,
  milliseconds,
  runtimes,
  Series,
  type MetricName,
} from './schema.ts';

const totalsExample = {
  success: 1412,
  failed: 21,
  stopped: 7,
  duration_p50_ms: 840,
  duration_p95_ms: 5120,
  queue_p95_ms: 48,
  cpu_seconds: 812.5,
  max_memory_bytes: 73_400_320,
};

const RunPoint = Exact(
  {
    run_id: Uuid(),
    script_name: Type.String(),
    status: Type.Enum(runStatuses),
    queued_at: Time(),
    duration_ms: Type.Integer({ minimum: 0 }),
  },
  { title: 'RunPoint' },
);

const ScriptHealth = Exact(
  {
    script_id: Uuid(),
    script_name: Type.String(),
    recent_runs: Type.Array(RecentRun, { description: 'The latest 10 runs, newest first.' }),
  },
  { title: 'ScriptHealth' },
);

const SetupSteps = Exact(
  {
    script: Type.Boolean(),
    run: Type.Boolean(),
    trigger: Type.Boolean({ description: 'Whether a schedule, webhook or chain exists.' }),
    channel: Type.Boolean({ description: 'Whether a notification channel exists.' }),
  },
  { title: 'SetupSteps' },
);

export const DashboardOverview = Exact(
  {
    from: Time('Start of the first bucket.'),
    to: Time('End of the range.'),
    bucket_seconds: Type.Integer(),
    totals: Type.Object(
      {
        success: count(),
        failed: count(),
        stopped: count(),
        duration_p50_ms: milliseconds('Median (p50).'),
        duration_p95_ms: milliseconds('95th percentile (p95).'),
        queue_p95_ms: milliseconds('95th percentile (p95) of the time in the queue.'),
        cpu_seconds: Type.Number({ minimum: 0 }),
        max_memory_bytes: Nullable(count('Highest memory usage of a single run.')),
      },
      {
        title: 'DashboardTotals',
        description: 'Runs that ended between `from` and `to`: the sum of all buckets.',
        additionalProperties: false,
      },
    ),
    series: Type.Object(
      Object.fromEntries(metricNames.map((name) => [name, Type.Array(Series)])) as {
        [Name in MetricName]: ReturnType<typeof Type.Array<typeof Series>>;
      },
      {
        title: 'DashboardSeries',
        description: 'The series of each metric, as in `/dashboard/timeseries`.',
        additionalProperties: false,
      },
    ),
    scripts_total: count(),
    scripts_enabled: count(),
    runs_queued: count(),
    runs_running: count(),
    runtimes,
    runs: Type.Array(RunPoint, {
      description:
        'A sample of finished runs that were queued in the range, evenly spread over the range, ' +
        'oldest first.',
    }),
    health: Type.Array(ScriptHealth, {
      description: 'Failing scripts first, then the scripts with the latest runs.',
    }),
    setup: Nullable(SetupSteps),
    now: DashboardNow,
    fires: Type.Union([DashboardFires, Type.Null()], {
      description: '`null` with `fires=false`, or if the caller may not read schedules.',
    }),
  },
  {
    title: 'DashboardOverview',
    examples: [
      {
        from: '2026-11-21T02:00:00.000Z',
        to: '2026-11-21T02:31:00.000Z',
        bucket_seconds: 3600,
        totals: totalsExample,
        series: Object.fromEntries(
          metricNames.map((name) => [
            name,
            [{ name: 'failed', points: [['2026-11-21T02:00:00.000Z', 3]] }],
          ]),
        ),
        scripts_total: 12,
        scripts_enabled: 10,
        runs_queued: 1,
        runs_running: 3,
        runtimes: [],
        runs: [
          {
            run_id: examples.runId,
            script_name: 'Night report',
            status: 'success',
            queued_at: '2026-11-21T02:10:00.000Z',
            duration_ms: 840,
          },
        ],
        health: [],
        setup: null,
        now: { failing_total: 0, failing: [], running: [], due: [] },
        fires: null,
      },
    ],
  },
);
