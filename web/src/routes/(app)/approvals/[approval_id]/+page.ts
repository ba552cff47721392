import { failPage } from '#lib/api/page-error.ts';
import { queryClient } from '#lib/api/query-client.ts';
import { getApproval } from '#lib/approvals/api.ts';
import type { PageLoad } from './$types';

export const load: PageLoad = async ({ params }) => {
  const id = params.approval_id;
  const queryKey = ['approvals', 'one', id];
  await queryClient.fetchQuery({ queryKey, queryFn: () => getApproval(id) }).catch(failPage);
  return { approvalId: id };
};
