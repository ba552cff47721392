import { requireRight } from '#lib/session/require-right.ts';
import type { PageLoad } from './$types';

/** The selected chain is part of the URL, so that it can be shared. */
export const load: PageLoad = async ({ url, parent }): Promise<{ chosen: string | null }> => {
  await requireRight(parent, 'chains.manage');
  return { chosen: url.searchParams.get('chain') };
};
