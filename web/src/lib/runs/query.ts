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
  'q',
  'since',
  'from',
  'to',
] as const;

/** The filter in a URL. */
export function askedRuns(query: URLSearchParams): AskedRuns {
  return readFilters(query, names);
}

/** The filter for the server. The time is the same for all pages of the list. */
export function asFilter({ since, ...rest }: AskedRuns, nowMs: number): RunFilter {
  const span = runSpans[since ?? ''];
  return span ? { ...rest, from: new Date(nowMs - span.seconds * 1000).toISOString() } : rest;
}
