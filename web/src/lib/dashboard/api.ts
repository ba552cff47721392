import { client, unwrap } from '#lib/api/client.ts';
import type { DashboardFires, DashboardNow, DashboardOverview } from '#lib/api/types.ts';
import { timesOf, type TimeRange } from './time-range.ts';

/** Returns the statistics of a time range and the current state.
 *  @param fires whether to count the upcoming due times */
export function dashboardOverview(range: TimeRange, fires: boolean): Promise<DashboardOverview> {
  const params = { query: { ...timesOf(range, Date.now()), ...(!fires && { fires }) } };
  // The generated types describe a data point as an array instead of a pair.
  return unwrap(client.GET('/api/v1/dashboard/overview', { params })) as Promise<DashboardOverview>;
}

/** Returns failing scripts, active runs and the next due times. */
export function dashboardNow(): Promise<DashboardNow> {
  return unwrap(client.GET('/api/v1/dashboard/now', {}));
}

/** Returns the number of due times in each of the next 24 hours. */
export function dashboardFires(): Promise<DashboardFires> {
  return unwrap(client.GET('/api/v1/dashboard/fires', {}));
}
