import type { RunFilter } from '#lib/runs/api.ts';
import { askedRuns, asFilter, type AskedRuns } from '#lib/runs/query.ts';
import type { PageLoad } from './$types';

/** The filter is part of the URL, so that it can be shared and survives a reload. */
export const load: PageLoad = ({ url }): { asked: AskedRuns; filter: RunFilter } => {
  const asked = askedRuns(url.searchParams);
  return { asked, filter: asFilter(asked, Date.now()) };
};
