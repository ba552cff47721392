/** Time ranges of the dashboard, and their form in its URL. */
import type { TimeseriesBucket } from '#lib/api/types.ts';

const hour = 3600;

/** Preset ranges that end now. */
export const spans = [
  { key: '1h', name: 'Last hour', seconds: hour, bucket: 60 },
  { key: '24h', name: 'Last 24 hours', seconds: 24 * hour, bucket: 900 },
  { key: '7d', name: 'Last 7 days', seconds: 7 * 24 * hour, bucket: 21_600 },
  { key: '90d', name: 'Last 90 days', seconds: 90 * 24 * hour, bucket: 86_400 },
] as const;

type Span = (typeof spans)[number];

/** A preset range, or a custom range in ISO 8601. */
export type TimeRange = Span | { readonly from: string; readonly to: string };

/** Parses the range in a URL. Without a valid range, returns the last 24 hours. */
export function askedRange(query: URLSearchParams): TimeRange {
  const [fromMs, toMs] = ['from', 'to'].map((name) => Date.parse(query.get(name) ?? ''));
  if (fromMs !== undefined && toMs !== undefined && fromMs < toMs) {
    return { from: new Date(fromMs).toISOString(), to: new Date(toMs).toISOString() };
  }
  return spans.find(({ key }) => key === query.get('span')) ?? spans[1];
}

/** Returns the URL query that selects a range. */
export function rangeQuery(range: TimeRange): string {
  return 'key' in range
    ? `?span=${range.key}`
    : `?${new URLSearchParams({ from: range.from, to: range.to })}`;
}

/** Returns the URL query of the run list for a range. The run list has keys for the short preset ranges.
 *  @param status the value of the run list's status filter */
export function runsQuery(range: TimeRange, status: string): string {
  if (!('key' in range))
    return String(new URLSearchParams({ status, from: range.from, to: range.to }));
  if (range.key !== '90d') return String(new URLSearchParams({ status, since: range.key }));
  return String(new URLSearchParams({ status }));
}

/** Returns the API query for a range. For a custom range, the server chooses the bucket size. */
export function timesOf(
  range: TimeRange,
  nowMs: number,
): { from: string; to?: string; bucket?: TimeseriesBucket } {
  if (!('key' in range)) return { from: range.from, to: range.to };
  return { from: new Date(nowMs - range.seconds * 1000).toISOString(), bucket: range.bucket };
}

/** Returns the range that the user selected by dragging, rounded to whole minutes and at least one minute long. */
export function drawnRange(fromMs: number, toMs: number): TimeRange {
  const minuteMs = 60_000;
  const begin = Math.floor(fromMs / minuteMs) * minuteMs;
  const end = Math.max(Math.ceil(toMs / minuteMs) * minuteMs, begin + minuteMs);
  return { from: new Date(begin).toISOString(), to: new Date(end).toISOString() };
}
