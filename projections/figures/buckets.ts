/** The intervals of statistics. Each length is a multiple of the previous length, so a few rows cover any time
 *  range. Pure. */

/** Interval lengths in seconds. Each length is a multiple of the previous one. Intervals begin at whole multiples of
 *  their length since 1970, in UTC. */
export const levels = [60, 900, 3600, 86_400] as const;
export type Level = (typeof levels)[number];

/** The interval lengths that a time series may have, in seconds. */
export const bucketLengths = [60, 300, 900, 3600, 21_600, 86_400] as const;
export type BucketLength = (typeof bucketLengths)[number];

/** Returns the start of the interval that contains a time. */
export function beginOf(time: Date, lengthSeconds: number): Date {
  const lengthMs = lengthSeconds * 1000;
  return new Date(Math.floor(time.getTime() / lengthMs) * lengthMs);
}

/** Returns the longest level that divides the length evenly. */
export function levelFor(length: BucketLength): Level {
  return levels.findLast((level) => length % level === 0) ?? 60;
}

/** A part of a time range that is covered by intervals of one level. */
export interface Span {
  readonly level: Level;
  readonly from: Date;
  readonly to: Date;
}

/** Splits the range between the minute of `from` and `now` into as few intervals as possible. Short intervals are
 *  needed only at the start of the range. The last interval may extend into the future, where nothing has been
 *  counted yet. */
export function spansSince(from: Date, now: Date): readonly Span[] {
  const spans: Span[] = [];
  let next = beginOf(from, levels[0]);
  for (const [index, level] of levels.entries()) {
    const longer = levels[index + 1];
    const begin = longer === undefined ? undefined : firstAtOrAfter(next, longer);
    const to = begin !== undefined && begin <= now ? begin : new Date(now.getTime() + 1);
    if (next < to) spans.push({ level, from: next, to });
    if (begin === undefined || begin > now) return spans;
    next = begin;
  }
  return spans;
}

function firstAtOrAfter(time: Date, lengthSeconds: number): Date {
  return beginOf(new Date(time.getTime() + lengthSeconds * 1000 - 1), lengthSeconds);
}
