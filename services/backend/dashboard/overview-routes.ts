/** Returns all statistics that the dashboard's first page shows for a time range, in one response. */
import { hasRightAnywhere } from '#domain/kernel/rights.ts';
import { listRuntimes } from '#infra/postgres/queue/runtimes.ts';
import { runFiguresProjection } from '#projections/figures/apply.ts';
import { activeNow, figuresByTime } from '#projections/figures/queries.ts';
import { noFigures, together, type Figures } from '#projections/figures/tally.ts';
import { setupSteps } from '#projections/configuration/setup.ts';
import { sampleRuns } from '#projections/runs/sample.ts';
import { scriptHealth } from '#projections/scripts/health.ts';
import { countScripts } from '#projections/scripts/search.ts';
import Type from 'typebox';
import { visibleGroups } from '../access/visibility.ts';
import { operation, type Operation } from '../http/operation.ts';
import { isProblem } from '../http/problem.ts';
import { json } from '../http/reply.ts';
import { rangeOf, rangeQuery, rounded, seriesOf } from './figures.ts';
import { DashboardOverview } from './overview-schema.ts';
import { countFires, readNow, shown } from './present.ts';
import { metricNames } from './schema.ts';
import { Exact } from '../http/schema.ts';

/** Number of scripts whose health the first page shows. */
const healthShown = 8;

const overview = operation({
  method: 'get',
  path: '/api/v1/dashboard/overview',
  operationId: 'dashboardOverview',
  summary: 'Read the statistics for a time range, the current state and the next due times',
  description:
    "Covers the caller's groups. Totals and series count the same buckets, so they agree. The first bucket " +
    'starts at a multiple of the bucket length in UTC.',
  tag: 'System',
  access: { right: 'runs.read' },
  query: Exact({
    ...rangeQuery,
    fires: Type.Optional(
      Type.Boolean({
        default: true,
        description: 'Whether to include the number of upcoming due times.',
      }),
    ),
  }),
  responses: { 200: { description: 'The overview.', schema: DashboardOverview } },
  readsBehind: [runFiguresProjection.name],
  handle: async ({ principal, query }, { readModels, database, clock }) => {
    const now = clock.now();
    const range = rangeOf(query, now);
    if (isProblem(range)) return range;
    const groups = visibleGroups(principal);
    const countsFires = query.fires !== false && hasRightAnywhere(principal, 'schedules.read');
    const isAdministrator = hasRightAnywhere(principal, 'notifications.manage');
    const [buckets, scripts, active, runtimes, present, fires, runs, health, setup] =
      await Promise.all([
        figuresByTime(readModels, groups, range),
        countScripts(readModels, groups),
        activeNow(readModels, groups),
        listRuntimes(database),
        readNow(readModels, groups, shown),
        countsFires ? countFires(readModels, groups, now) : null,
        sampleRuns(readModels, groups, range),
        scriptHealth(readModels, groups, healthShown),
        isAdministrator ? setupSteps(readModels) : null,
      ]);
    return json(200, {
      from: buckets[0]?.[0] ?? range.from,
      to: range.to,
      bucket_seconds: range.length,
      totals: totalsOf(buckets.map(([, figures]) => figures)),
      series: Object.fromEntries(metricNames.map((name) => [name, seriesOf(name, buckets)])),
      scripts_total: scripts.total,
      scripts_enabled: scripts.enabled,
      runs_queued: active.queued,
      runs_running: active.running,
      runtimes: runtimes.map(({ runtime_id: id, started_at, seen_at, slots, running }) => {
        return { id, started_at, seen_at, slots, running };
      }),
      runs,
      health,
      setup,
      now: present,
      fires,
    });
  },
});

function totalsOf(all: readonly Figures[]) {
  const figures = all.reduce<Figures>(together, noFigures);
  const { success, failed, stopped, durations, waits } = figures;
  return {
    success,
    failed,
    stopped,
    duration_p50_ms: rounded(durations, 0.5),
    duration_p95_ms: rounded(durations, 0.95),
    queue_p95_ms: rounded(waits, 0.95),
    cpu_seconds: figures.cpu_ms / 1000,
    max_memory_bytes: figures.max_memory_bytes || null,
  };
}

export const dashboardOverviewOperations: readonly Operation[] = [overview];
