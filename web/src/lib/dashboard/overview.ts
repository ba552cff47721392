/** Loads the dashboard's first page with one request. */
import { queryClient } from '#lib/api/query-client.ts';
import type { DashboardOverview } from '#lib/api/types.ts';
import { dashboardOverview } from './api.ts';
import type { TimeRange } from './time-range.ts';

/** The query keys of the parts that also reload separately when the change feed reports a change. */
export const nowKey = ['dashboard', 'now'];
export const firesKey = ['dashboard', 'fires'];

/** Loads the overview of a time range. Counting due times is slow, so only the first overview on the page includes
 *  them. */
export async function readOverview(range: TimeRange): Promise<DashboardOverview> {
  const overview = await dashboardOverview(range, !queryClient.getQueryData(firesKey));
  queryClient.setQueryData(nowKey, overview.now);
  if (overview.fires) queryClient.setQueryData(firesKey, overview.fires);
  return overview;
}
