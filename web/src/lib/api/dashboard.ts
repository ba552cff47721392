import { client, unwrap } from './client.ts';
import type { DashboardStats, MetricName, Timeseries, TimeseriesBucket } from './types.ts';

export function dashboardStats(): Promise<DashboardStats> {
  return unwrap(client.GET('/api/v1/dashboard/stats', {}));
}

/** Figures of the last so many seconds. */
export function timeseries(
  metric: MetricName,
  { seconds, bucket }: { seconds: number; bucket: TimeseriesBucket },
): Promise<Timeseries> {
  const from = new Date(Date.now() - seconds * 1000).toISOString();
  const params = { query: { metric, from, bucket } };
  // The client's types lose that a point is a pair.
  return unwrap(client.GET('/api/v1/dashboard/timeseries', { params })) as Promise<Timeseries>;
}
