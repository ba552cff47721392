import { failPage } from '#lib/api/page-error.ts';
import { queryClient } from '#lib/api/query-client.ts';
import { getScript } from '#lib/scripts/api.ts';
import type { LayoutLoad } from './$types';

export const load: LayoutLoad = async ({ params }) => {
  const id = params.script_id;
  const queryKey = ['script', id];
  await queryClient.fetchQuery({ queryKey, queryFn: () => getScript(id) }).catch(failPage);
  return { scriptId: id };
};
