import { failPage } from '#lib/api/page-error.ts';
import { queryClient } from '#lib/api/query-client.ts';
import { getErrorGroup } from '#lib/errors/api.ts';
import type { PageLoad } from './$types';

export const load: PageLoad = async ({ params }) => {
  const id = params.error_group_id;
  const queryKey = ['error-groups', 'one', id];
  await queryClient.fetchQuery({ queryKey, queryFn: () => getErrorGroup(id) }).catch(failPage);
  return { errorGroupId: id };
};
