/** Histograms with fixed bins, which can be added across groups and intervals. Each bin is 10 % wider than the
 *  previous bin. Every value counts as the middle of its bin, so the error is less than 5 %. Pure. */

/** The number of values by bin number. Empty bins are omitted. */
export type Histogram = Readonly<Record<string, number>>;

const growth = 1.1;

/** @param value at least 0. Values below 1 are not distinguished, so use milliseconds. */
export function withValue(histogram: Histogram, value: number): Histogram {
  return added(histogram, { [binOf(value)]: 1 });
}

export function added(one: Histogram, other: Histogram): Histogram {
  const sum: Record<string, number> = { ...one };
  for (const [bin, count] of Object.entries(other)) sum[bin] = (sum[bin] ?? 0) + count;
  return sum;
}

/** Returns the quantile for `part`, such as 0.5 for the median. Returns null if the histogram is empty. */
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

/** Bin 0 contains the values below 1. */
function binOf(value: number): number {
  return value < 1 ? 0 : 1 + Math.floor(Math.log(value) / Math.log(growth) + 1e-9);
}

function valueOf(bin: number): number {
  return bin === 0 ? 0 : growth ** (bin - 0.5);
}
