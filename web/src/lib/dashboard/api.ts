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

/** Failing scripts, active runs and the next due times of all scripts. */
export function dashboardNow(): Promise<DashboardNow> {
  return unwrap(client.GET('/api/v1/dashboard/now', {}));
}

/** The number of due times in the next 24 hours. */
export function dashboardFires(): Promise<DashboardFires> {
  return unwrap(client.GET('/api/v1/dashboard/fires', {}));
}

/** Metrics of a time range. */
export function timeseries(metric: MetricName, range: TimeRange): Promise<Timeseries> {
  const params = { query: { metric, ...timesOf(range, Date.now()) } };
  // The types of the client do not express that a point is a pair.
  return unwrap(client.GET('/api/v1/dashboard/timeseries', { params })) as Promise<Timeseries>;
}
