import { getSchedule } from '#lib/api/schedules.ts';
import { failPage } from '#lib/page-error.ts';
import { queryClient } from '#lib/query-client.ts';
import type { PageLoad } from './$types';

export const load: PageLoad = async ({ params }) => {
  const id = params.schedule_id;
  const queryKey = ['schedule', id];
  await queryClient.fetchQuery({ queryKey, queryFn: () => getSchedule(id) }).catch(failPage);
  return { scheduleId: id };
};
