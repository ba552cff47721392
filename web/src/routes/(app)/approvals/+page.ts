import { approvalViews, type ApprovalView } from '#lib/approvals/api.ts';
import type { PageLoad } from './$types';

/** The selected view is part of the URL, so that it can be shared. */
export const load: PageLoad = ({ url }): { view: ApprovalView } => {
  const asked = url.searchParams.get('view');
  return { view: approvalViews.find((one) => one === asked) ?? 'pending' };
};
