import { requireRight } from '#lib/session/require-right.ts';
import type { PageLoad } from './$types';

/** Which chain is told of is in the address. */
export const load: PageLoad = async ({ url, parent }): Promise<{ chosen: string | null }> => {
  await requireRight(parent, 'chains.manage');
  return { chosen: url.searchParams.get('chain') };
};
