/** Counts of values in bins that are the same everywhere, so that those of many places and times can be
 *  added. A bin ends a tenth above where it begins, and a value is taken for the middle of its bin:
 *  whatever is read from one is off by less than 5 %. Pure. */

/** Counts by the number of the bin; only bins that hold something. */
export type Histogram = Readonly<Record<string, number>>;

const growth = 1.1;

/** @param value zero or more; below one, and in milliseconds, nothing is told apart */
export function withValue(histogram: Histogram, value: number): Histogram {
  return added(histogram, { [binOf(value)]: 1 });
}

export function added(one: Histogram, other: Histogram): Histogram {
  const sum: Record<string, number> = { ...one };
  for (const [bin, count] of Object.entries(other)) sum[bin] = (sum[bin] ?? 0) + count;
  return sum;
}

/** The value that this part of all values is at most, such as 0.5 for the median; null without any. */
export function quantile(histogram: Histogram, part: number): number | null {
  const bins = Object.entries(histogram)
    .map(([bin, count]) => [Number(bin), count] as const)
    .toSorted(([one], [other]) => one - other);
  const total = bins.reduce((sum, [, count]) => sum + count, 0);
  let left = Math.max(1, Math.ceil(total * part));
  for (const [bin, count] of bins) {
    left -= count;
    if (left <= 0) return valueOf(bin);
  }
  return null;
}

/** Bin 0 is for what is below one. */
function binOf(value: number): number {
  return value < 1 ? 0 : 1 + Math.floor(Math.log(value) / Math.log(growth) + 1e-9);
}

function valueOf(bin: number): number {
  return bin === 0 ? 0 : growth ** (bin - 0.5);
}
