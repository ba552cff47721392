/** Computes the range and the bars of the replay timeline. All times are in milliseconds. */
import type { AuditDensity } from '#lib/api/types.ts';

export interface Range {
  readonly fromMs: number;
  readonly toMs: number;
}

export interface Bar {
  /** The left edge and the width of the bar, as fractions of the timeline. */
  readonly x: number;
  readonly width: number;
  /** The height of the bar, as a fraction of the timeline's height. */
  readonly height: number;
  readonly notAccepted: number;
}

const minRangeMs = 1000;
const zoomBy = 4;

export function rangeOf({ from, to }: Pick<AuditDensity, 'from' | 'to'>): Range {
  return { fromMs: Date.parse(from), toMs: Date.parse(to) };
}

/** Computes the bars. Heights are logarithmic, so that a single event stays visible next to thousands. */
export function barsOf(density: AuditDensity): Bar[] {
  const { fromMs, toMs } = rangeOf(density);
  const most = Math.max(1, ...density.items.map(({ entries }) => entries));
  const heightOf = (count: number) => Math.log1p(count) / Math.log1p(most);
  const width = (density.bucket_seconds * 1000) / (toMs - fromMs);
  return density.items.map(({ time, entries, not_accepted: notAccepted }) => ({
    x: (Date.parse(time) - fromMs) / (toMs - fromMs),
    width,
    height: heightOf(entries),
    notAccepted: heightOf(entries) * (notAccepted / entries),
  }));
}

/** Returns the range after zooming in: a quarter as long, and centered on `aroundMs` where possible. */
export function zoomedIn({ fromMs, toMs }: Range, aroundMs: number): Range {
  const length = Math.max(minRangeMs, (toMs - fromMs) / zoomBy);
  const start = Math.min(Math.max(fromMs, aroundMs - length / 2), toMs - length);
  return { fromMs: start, toMs: start + length };
}

/** Returns the range after zooming out: four times as long, but within the whole timeline. */
export function zoomedOut({ fromMs, toMs }: Range, whole: Range): Range {
  const more = ((toMs - fromMs) * (zoomBy - 1)) / 2;
  return {
    fromMs: Math.max(whole.fromMs, fromMs - more),
    toMs: Math.min(whole.toMs, toMs + more),
  };
}
