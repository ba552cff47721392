import { readFilters } from '#lib/ui/lists/filter.ts';
import type { RunFilter } from './api.ts';

/** Relative time ranges of the list of runs, in seconds. */
export const runSpans: Record<string, { name: string; seconds: number }> = {
  '1h': { name: 'Last hour', seconds: 3600 },
  '24h': { name: 'Last 24 hours', seconds: 86_400 },
  '7d': { name: 'Last 7 days', seconds: 604_800 },
};

/** The filter in the URL of the list. */
export interface AskedRuns extends RunFilter {
  /** A key of `runSpans`, instead of `from` and `to`. */
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

/** The filter in a URL. */
export function askedRuns(query: URLSearchParams): AskedRuns {
  return readFilters(query, names) as AskedRuns;
}

/** The direction in which a list is sorted by a column; null if it is not. */
export function sortedBy(column: string, sort: string | undefined) {
  if (sort === column) return 'ascending' as const;
  return sort === `-${column}` ? ('descending' as const) : null;
}

/** The sort after a click on a column. Successive clicks sort by the column, reverse the order, and return to newest first.
 *  @param first the prefix of the first click's sort: `''` for ascending, `'-'` for descending */
export function nextSort(column: string, sort: string | undefined, first: '' | '-'): string {
  const [one, other] = [`${first}${column}`, `${first === '' ? '-' : ''}${column}`];
  return sort === one ? other : sort === other ? '' : one;
}

/** The filter for the server. The time is the same for all pages of the list. */
export function asFilter({ since, ...rest }: AskedRuns, nowMs: number): RunFilter {
  const span = runSpans[since ?? ''];
  return span ? { ...rest, from: new Date(nowMs - span.seconds * 1000).toISOString() } : rest;
}
