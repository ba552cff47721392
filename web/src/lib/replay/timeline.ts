/** The timeline of the replay: its range and the heights of its bars. Times in milliseconds. */
import type { AuditDensity } from '#lib/api/types.ts';

export interface Range {
  readonly fromMs: number;
  readonly toMs: number;
}

export interface Bar {
  /** Its start and width, as fractions of the timeline. */
  readonly x: number;
  readonly width: number;
  /** The height as a fraction. */
  readonly height: number;
  readonly notAccepted: number;
}

const minRangeMs = 1000;
const zoomBy = 4;

export function rangeOf({ from, to }: Pick<AuditDensity, 'from' | 'to'>): Range {
  return { fromMs: Date.parse(from), toMs: Date.parse(to) };
}

/** Heights are logarithmic, so that a single event is visible next to thousands. */
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

/** The range after zooming in: a quarter as long, and centered on `aroundMs` where possible. */
export function zoomedIn({ fromMs, toMs }: Range, aroundMs: number): Range {
  const length = Math.max(minRangeMs, (toMs - fromMs) / zoomBy);
  const start = Math.min(Math.max(fromMs, aroundMs - length / 2), toMs - length);
  return { fromMs: start, toMs: start + length };
}

/** The range after zooming out: four times as long, but not beyond the whole timeline. */
export function zoomedOut({ fromMs, toMs }: Range, whole: Range): Range {
  const more = ((toMs - fromMs) * (zoomBy - 1)) / 2;
  return {
    fromMs: Math.max(whole.fromMs, fromMs - more),
    toMs: Math.min(whole.toMs, toMs + more),
  };
}
