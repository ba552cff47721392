import { failPage } from '#lib/api/page-error.ts';
import { queryClient } from '#lib/api/query-client.ts';
import { getSchedule } from '#lib/schedules/api.ts';
import type { PageLoad } from './$types';

export const load: PageLoad = async ({ params }) => {
  const id = params.schedule_id;
  const queryKey = ['schedule', id];
  await queryClient.fetchQuery({ queryKey, queryFn: () => getSchedule(id) }).catch(failPage);
  return { scheduleId: id };
};
