import { approvalViews, type ApprovalView } from '#lib/approvals/api.ts';
import type { PageLoad } from './$types';

/** The URL has the view. */
export const load: PageLoad = ({ url }): { view: ApprovalView } => {
  const asked = url.searchParams.get('view');
  return { view: approvalViews.find((one) => one === asked) ?? 'pending' };
};
