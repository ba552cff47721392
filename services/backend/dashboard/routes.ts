/** Statistics for the dashboard (contract §3, "System"). */
import { listRuntimes } from '#infra/postgres/queue/runtimes.ts';
import { runFiguresProjection } from '#projections/figures/apply.ts';
import { bucketLengths, type BucketLength } from '#projections/figures/buckets.ts';
import { quantile, type Histogram } from '#projections/figures/histogram.ts';
import { activeNow, figuresByTime, figuresOfDay } from '#projections/figures/queries.ts';
import type { Figures } from '#projections/figures/tally.ts';
import { countScripts } from '#projections/scripts/search.ts';
import Type from 'typebox';
import { visibleGroups } from '../access/visibility.ts';
import { operation, type Operation } from '../http/operation.ts';
import { problem } from '../http/problem.ts';
import { json } from '../http/reply.ts';
import { DashboardStats, metricNames, Timeseries, type MetricName } from './schema.ts';

const tag = 'System';
const dayMs = 24 * 60 * 60 * 1000;
const maxBuckets = 1000;
/** The default maximum number of points. */
const usualBuckets = 150;

const stats = operation({
  method: 'get',
  path: '/api/v1/dashboard/stats',
  operationId: 'dashboardStats',
  summary: 'Read current statistics and those of the last 24 hours',
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
  summary: 'Read run statistics over time, by the time that runs ended',
  description:
    "Covers the caller's groups. `runs`: succeeded, failed and stopped runs; `errors`: failed runs; " +
    '`duration` and `queue`: p50 and p95 in milliseconds (within 5 %); `cpu`: seconds of CPU time; ' +
    '`memory`: highest memory use of a single run, in bytes. Buckets start at multiples of their length ' +
    `in UTC. At most ${maxBuckets} buckets.`,
  tag,
  access: { right: 'runs.read' },
  query: Type.Object(
    {
      metric: Type.Optional(Type.Enum([...metricNames], { default: 'runs' })),
      from: Type.Optional(
        Type.String({ format: 'date-time', description: 'Default: 24 hours before `to`.' }),
      ),
      to: Type.Optional(Type.String({ format: 'date-time', description: 'Default: now.' })),
      bucket: Type.Optional(
        Type.Integer({
          enum: [...bucketLengths],
          description: 'Bucket length in seconds. Default: chosen from the time range.',
        }),
      ),
    },
    { additionalProperties: false },
  ),
  responses: { 200: { description: 'The series.', schema: Timeseries } },
  readsBehind: [runFiguresProjection.name],
  handle: async ({ principal, query }, { readModels, clock }) => {
    const to = query.to === undefined ? clock.now() : new Date(query.to);
    const from = query.from === undefined ? new Date(to.getTime() - dayMs) : new Date(query.from);
    const seconds = (to.getTime() - from.getTime()) / 1000;
    if (seconds <= 0) return problem('invalid_parameter', '"from" must be before "to".');
    const asked = bucketLengths.find((one) => one === query.bucket);
    const length = asked ?? usualLength(seconds);
    if (seconds / length > maxBuckets) {
      return problem(
        'invalid_parameter',
        `The request needs more than ${maxBuckets} buckets. Use a shorter range or longer buckets.`,
      );
    }
    const groups = visibleGroups(principal);
    const buckets = await figuresByTime(readModels, groups, { from, to, length });
    const series = seriesOf(query.metric ?? 'runs').map(({ name, value }) => ({
      name,
      points: buckets.map(([at, figures]) => [at, value(figures)]),
    }));
    return json(200, { bucket_seconds: length, series });
  },
});

function usualLength(seconds: number): BucketLength {
  return bucketLengths.find((length) => seconds / length <= usualBuckets) ?? 86_400;
}

interface Curve {
  readonly name: string;
  readonly value: (figures: Figures) => number | null;
}

function seriesOf(metric: MetricName): readonly Curve[] {
  switch (metric) {
    case 'runs':
      return (['success', 'failed', 'stopped'] as const).map((name) => ({
        name,
        value: (figures) => figures[name],
      }));
    case 'errors':
      return [{ name: 'failed', value: ({ failed }) => failed }];
    case 'duration':
      return quantiles(({ durations }) => durations);
    case 'queue':
      return quantiles(({ waits }) => waits);
    case 'cpu':
      return [{ name: 'cpu_seconds', value: (figures) => figures.cpu_ms / 1000 }];
    case 'memory':
      return [{ name: 'max_bytes', value: (figures) => figures.max_memory_bytes || null }];
  }
}

function quantiles(histogramOf: (figures: Figures) => Histogram): readonly Curve[] {
  return [
    { name: 'p50', value: (figures) => rounded(histogramOf(figures), 0.5) },
    { name: 'p95', value: (figures) => rounded(histogramOf(figures), 0.95) },
  ];
}

function rounded(histogram: Histogram, part: number): number | null {
  const value = quantile(histogram, part);
  return value === null ? null : Math.round(value);
}

export const dashboardOperations: readonly Operation[] = [stats, timeseries];
