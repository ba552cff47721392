import { readFilters } from '#lib/ui/lists/filter.ts';
import type { RunFilter } from './api.ts';

/** Relative time ranges of the run list, in seconds. */
export const runSpans: Record<string, { name: string; seconds: number }> = {
  '1h': { name: 'Last hour', seconds: 3600 },
  '24h': { name: 'Last 24 hours', seconds: 86_400 },
  '7d': { name: 'Last 7 days', seconds: 604_800 },
};

/** The filters in the URL of the run list. */
export interface AskedRuns extends RunFilter {
  /** A key of `runSpans`, as an alternative to `from` and `to`. */
  since?: string;
}

const names = [
  'status',
  'trigger_type',
  'script_id',
  'group_id',
  'error_group_id',
  'q',
  'since',
  'from',
  'to',
  'sort',
] as const;

/** Parses the filters in a URL. */
export function askedRuns(query: URLSearchParams): AskedRuns {
  return readFilters(query, names) as AskedRuns;
}

/** The direction in which a column sorts the list, or null if the list is not sorted by this column. */
export function sortedBy(column: string, sort: string | undefined) {
  if (sort === column) return 'ascending' as const;
  return sort === `-${column}` ? ('descending' as const) : null;
}

/** Returns the sort order after a click on a column header. The first click sorts by the column, the second click
 *  reverses the order, and the third click restores the default order.
 *  @param first the sort prefix after the first click: `''` for ascending, `'-'` for descending */
export function nextSort(column: string, sort: string | undefined, first: '' | '-'): string {
  const [one, other] = [`${first}${column}`, `${first === '' ? '-' : ''}${column}`];
  return sort === one ? other : sort === other ? '' : one;
}

/** Returns the API filter. All pages of the list must use the same `nowMs`. */
export function asFilter({ since, ...rest }: AskedRuns, nowMs: number): RunFilter {
  const span = runSpans[since ?? ''];
  return span ? { ...rest, from: new Date(nowMs - span.seconds * 1000).toISOString() } : rest;
}
