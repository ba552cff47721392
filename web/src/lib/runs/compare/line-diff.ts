/** Computes a line diff of two texts: the shortest edit script (Myers, 1986). */

export interface DiffLine {
  kind: 'same' | 'removed' | 'added';
  text: string;
}

/** The maximum number of differences, because the cost grows quadratically. */
const maxDifferences = 1000;

/** Returns the lines of both texts in order, or undefined if there are too many differences. */
export function lineDiff(
  before: readonly string[],
  after: readonly string[],
): DiffLine[] | undefined {
  const trace = traceOf(before, after);
  if (trace === undefined) return undefined;
  const lines: DiffLine[] = [];
  let [x, y] = [before.length, after.length];
  for (let d = trace.length - 1; d >= 0; d -= 1) {
    const reached = trace[d] ?? new Map<number, number>();
    const k = x - y;
    const isAdded = d > 0 && goesDown(reached, k, d);
    const from = d === 0 ? 0 : (reached.get(isAdded ? k + 1 : k - 1) ?? 0);
    const startX = d === 0 ? 0 : isAdded ? from : from + 1;
    while (x > startX && y > startX - k) {
      x -= 1;
      y -= 1;
      lines.push({ kind: 'same', text: before[x] ?? '' });
    }
    if (d === 0) break;
    if (isAdded) {
      y -= 1;
      lines.push({ kind: 'added', text: after[y] ?? '' });
    } else {
      x -= 1;
      lines.push({ kind: 'removed', text: before[x] ?? '' });
    }
  }
  return lines.toReversed();
}

/** For each number of differences, the furthest position on each diagonal. */
function traceOf(
  before: readonly string[],
  after: readonly string[],
): ReadonlyMap<number, number>[] | undefined {
  const reached = new Map<number, number>([[1, 0]]);
  const trace: ReadonlyMap<number, number>[] = [];
  const most = Math.min(maxDifferences, before.length + after.length);
  for (let d = 0; d <= most; d += 1) {
    trace.push(new Map(reached));
    for (let k = -d; k <= d; k += 2) {
      let x = goesDown(reached, k, d) ? (reached.get(k + 1) ?? 0) : (reached.get(k - 1) ?? 0) + 1;
      while (x < before.length && x - k < after.length && before[x] === after[x - k]) x += 1;
      reached.set(k, x);
      if (x >= before.length && x - k >= after.length) return trace;
    }
  }
  return undefined;
}

function goesDown(reached: ReadonlyMap<number, number>, k: number, d: number): boolean {
  return k === -d || (k !== d && (reached.get(k - 1) ?? -1) < (reached.get(k + 1) ?? -1));
}

/** Keeps the differences and their surrounding lines. Other lines are replaced by the number of omitted lines. */
export function withContext(
  lines: readonly DiffLine[],
  around: number,
): (DiffLine | { omitted: number })[] {
  const near = new Set<number>();
  for (const [index, { kind }] of lines.entries()) {
    if (kind === 'same') continue;
    for (let one = index - around; one <= index + around; one += 1) near.add(one);
  }
  const shown: (DiffLine | { omitted: number })[] = [];
  let omitted = 0;
  for (const [index, line] of lines.entries()) {
    if (!near.has(index)) {
      omitted += 1;
      continue;
    }
    if (omitted > 0) shown.push({ omitted });
    omitted = 0;
    shown.push(line);
  }
  return omitted > 0 && shown.length > 0 ? [...shown, { omitted }] : shown;
}
