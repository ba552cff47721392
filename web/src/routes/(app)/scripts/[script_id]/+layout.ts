import { getScript } from '#lib/api/scripts.ts';
import { failPage } from '#lib/page-error.ts';
import { queryClient } from '#lib/query-client.ts';
import type { LayoutLoad } from './$types';

export const load: LayoutLoad = async ({ params }) => {
  const id = params.script_id;
  const queryKey = ['script', id];
  await queryClient.fetchQuery({ queryKey, queryFn: () => getScript(id) }).catch(failPage);
  return { scriptId: id };
};
