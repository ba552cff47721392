import type { ErrorGroupFilter } from '#lib/errors/api.ts';
import { errorGroupStatuses } from '#lib/errors/labels.ts';
import { readFilters } from '#lib/ui/lists/filter.ts';
import type { PageLoad } from './$types';

/** The filter is part of the URL, so that it can be shared and survives a reload. */
export const load: PageLoad = ({ url }): { filter: ErrorGroupFilter } => {
  const { status: asked, q } = readFilters(url.searchParams, ['status', 'q']);
  const status = errorGroupStatuses.find((one) => one === asked);
  return { filter: { ...(status && { status }), ...(q && { q }) } };
};
