/** Returns statistics for the dashboard (contract §3, "System"). */
import { listRuntimes } from '#infra/postgres/queue/runtimes.ts';
import { runFiguresProjection } from '#projections/figures/apply.ts';
import { activeNow, figuresByTime, figuresOfDay } from '#projections/figures/queries.ts';
import { countScripts } from '#projections/scripts/search.ts';
import Type from 'typebox';
import { visibleGroups } from '../access/visibility.ts';
import { operation, type Operation } from '../http/operation.ts';
import { isProblem } from '../http/problem.ts';
import { json } from '../http/reply.ts';
import { maxBuckets, rangeOf, rangeQuery, rounded, seriesOf } from './figures.ts';
import { DashboardStats, metricNames, Timeseries } from './schema.ts';
import { Exact } from '../http/schema.ts';

const tag = 'System';

const stats = operation({
  method: 'get',
  path: '/api/v1/dashboard/stats',
  operationId: 'dashboardStats',
  summary: 'Read the current state and statistics for the last 24 hours',
  description: "Covers the caller's groups. New events appear with a short delay.",
  tag,
  access: { right: 'runs.read' },
  responses: { 200: { description: 'The statistics.', schema: DashboardStats } },
  readsBehind: [runFiguresProjection.name],
  handle: async ({ principal }, { readModels, database, clock }) => {
    const groups = visibleGroups(principal);
    const [scripts, active, day, runtimes] = await Promise.all([
      countScripts(readModels, groups),
      activeNow(readModels, groups),
      figuresOfDay(readModels, groups, clock.now()),
      listRuntimes(database),
    ]);
    const { success, failed, stopped, durations, waits } = day;
    return json(200, {
      scripts_total: scripts.total,
      scripts_enabled: scripts.enabled,
      runs_queued: active.queued,
      runs_running: active.running,
      runs_24h: success + failed + stopped,
      success_rate_24h: success + failed === 0 ? null : success / (success + failed),
      errors_24h: failed,
      duration_p50_ms_24h: rounded(durations, 0.5),
      duration_p95_ms_24h: rounded(durations, 0.95),
      queue_p95_ms_24h: rounded(waits, 0.95),
      runtimes: runtimes.map(({ runtime_id: id, started_at, seen_at, slots, running }) => {
        return { id, started_at, seen_at, slots, running };
      }),
    });
  },
});

const timeseries = operation({
  method: 'get',
  path: '/api/v1/dashboard/timeseries',
  operationId: 'dashboardTimeseries',
  summary: 'Read run statistics over time, by the end times of the runs',
  description:
    "Covers the caller's groups. `runs`: succeeded, failed and stopped runs; `errors`: failed runs; " +
    '`duration` and `queue`: p50 and p95 in milliseconds (accurate to within 5%); `cpu`: seconds ' +
    'of CPU time; ' +
    '`memory`: highest memory usage of a single run, in bytes. Buckets start at multiples of ' +
    'their length ' +
    `in UTC. At most ${maxBuckets} buckets.`,
  tag,
  access: { right: 'runs.read' },
  query: Exact({
    metric: Type.Optional(Type.Enum([...metricNames], { default: 'runs' })),
    ...rangeQuery,
  }),
  responses: { 200: { description: 'The series.', schema: Timeseries } },
  readsBehind: [runFiguresProjection.name],
  handle: async ({ principal, query }, { readModels, clock }) => {
    const range = rangeOf(query, clock.now());
    if (isProblem(range)) return range;
    const groups = visibleGroups(principal);
    const buckets = await figuresByTime(readModels, groups, range);
    const series = seriesOf(query.metric ?? 'runs', buckets);
    return json(200, { bucket_seconds: range.length, series });
  },
});

export const dashboardOperations: readonly Operation[] = [stats, timeseries];
