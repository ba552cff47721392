import { client, unwrap } from '#lib/api/client.ts';
import type {
  DashboardFires,
  DashboardNow,
  DashboardStats,
  MetricName,
  Timeseries,
} from '#lib/api/types.ts';
import { timesOf, type TimeRange } from './time-range.ts';

export function dashboardStats(): Promise<DashboardStats> {
  return unwrap(client.GET('/api/v1/dashboard/stats', {}));
}

/** What fails, runs and is due next, of all scripts. */
export function dashboardNow(): Promise<DashboardNow> {
  return unwrap(client.GET('/api/v1/dashboard/now', {}));
}

/** How many due times the next 24 hours have. */
export function dashboardFires(): Promise<DashboardFires> {
  return unwrap(client.GET('/api/v1/dashboard/fires', {}));
}

/** Figures of a stretch of time. */
export function timeseries(metric: MetricName, range: TimeRange): Promise<Timeseries> {
  const params = { query: { metric, ...timesOf(range, Date.now()) } };
  // The client's types lose that a point is a pair.
  return unwrap(client.GET('/api/v1/dashboard/timeseries', { params })) as Promise<Timeseries>;
}
