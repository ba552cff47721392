/** The time line of the replay: which stretch it shows, and how high its bars are. Times in milliseconds. */
import type { AuditDensity } from '#lib/api/types.ts';

export interface Range {
  readonly fromMs: number;
  readonly toMs: number;
}

export interface Bar {
  /** Where it begins and how wide it is, as shares of the line. */
  readonly x: number;
  readonly width: number;
  /** Shares of the line's height. */
  readonly height: number;
  readonly notAccepted: number;
}

const leastMs = 1000;
const zoomBy = 4;

export function rangeOf({ from, to }: Pick<AuditDensity, 'from' | 'to'>): Range {
  return { fromMs: Date.parse(from), toMs: Date.parse(to) };
}

/** Heights grow with the logarithm, so that a lone event is seen beside thousands. */
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

/** A quarter of the stretch, around a moment in it. */
export function zoomedIn({ fromMs, toMs }: Range, aroundMs: number): Range {
  const length = Math.max(leastMs, (toMs - fromMs) / zoomBy);
  const start = Math.min(Math.max(fromMs, aroundMs - length / 2), toMs - length);
  return { fromMs: start, toMs: start + length };
}

/** Four times the stretch, within the whole. */
export function zoomedOut({ fromMs, toMs }: Range, whole: Range): Range {
  const more = ((toMs - fromMs) * (zoomBy - 1)) / 2;
  return {
    fromMs: Math.max(whole.fromMs, fromMs - more),
    toMs: Math.min(whole.toMs, toMs + more),
  };
}
