/** Prints one result: its name, the measured value and the target. */
export function row(figure: string, measured: string, bar: string): void {
  process.stdout.write(`${figure.padEnd(64)} ${measured.padEnd(34)} bar ${bar}\n`);
}

/** Returns the median of `values`. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other);
  const middle = sorted.length >> 1;
  const [low = 0, high = 0] =
    sorted.length % 2 === 1
      ? [sorted[middle], sorted[middle]]
      : [sorted[middle - 1], sorted[middle]];
  return (low + high) / 2;
}
