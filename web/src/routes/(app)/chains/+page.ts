import { requireRight } from '#lib/session/require-right.ts';
import type { PageLoad } from './$types';

/** The URL contains the selected chain. */
export const load: PageLoad = async ({ url, parent }): Promise<{ chosen: string | null }> => {
  await requireRight(parent, 'chains.manage');
  return { chosen: url.searchParams.get('chain') };
};
