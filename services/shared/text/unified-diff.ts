/** Computes line differences between two texts in the unified format, based on the shortest edit script (Myers,
 *  1986). */

/** The number of unchanged lines around a difference. */
const contextLines = 3;
/** If more lines differ, the diff shows the whole texts as removed and added. */
const maxEdits = 2_000;

type Edit = readonly [' ' | '-' | '+', string];

/** @returns the hunks without file names, or empty if the texts are equal */
export function unifiedDiff(before: string, after: string): string {
  const edits = editsOf(linesOf(before), linesOf(after));
  return hunksOf(edits)
    .map(([start, end]) => hunkText(edits, start, end))
    .join('');
}

/** Splits a text into lines that keep their line endings. As in `diff`, a last line without a line ending is marked. */
function linesOf(text: string): readonly string[] {
  if (text === '') return [];
  const lines = text.split(/(?<=\n)/);
  return lines.map((line) =>
    line.endsWith('\n') ? line : `${line}\n\\ No newline at end of file\n`,
  );
}

function editsOf(before: readonly string[], after: readonly string[]): readonly Edit[] {
  const most = Math.min(before.length, after.length);
  let start = 0;
  while (start < most && before[start] === after[start]) start += 1;
  let same = 0;
  while (same < most - start && before.at(-1 - same) === after.at(-1 - same)) same += 1;
  const kept = (lines: readonly string[]): Edit[] => lines.map((line) => [' ', line]);
  return [
    ...kept(before.slice(0, start)),
    ...shortest(before.slice(start, before.length - same), after.slice(start, after.length - same)),
    ...kept(before.slice(before.length - same)),
  ];
}

/** Computes the shortest edit script. For each number of edits, the trace records the furthest position on each
 *  diagonal. */
function shortest(before: readonly string[], after: readonly string[]): readonly Edit[] {
  const trace: Int32Array[] = [];
  const limit = Math.min(before.length + after.length, maxEdits);
  const furthest = new Int32Array(2 * limit + 3);
  const middle = limit + 1;
  for (let edits = 0; edits <= limit; edits += 1) {
    trace.push(furthest.slice(middle - edits - 1, middle + edits + 2));
    for (let diagonal = -edits; diagonal <= edits; diagonal += 2) {
      const at = middle + diagonal;
      const down = furthest[at + 1] ?? 0;
      const right = (furthest[at - 1] ?? 0) + 1;
      const isDown = diagonal === -edits || (diagonal !== edits && down >= right);
      let x = isDown ? down : right;
      while (
        x < before.length &&
        x - diagonal < after.length &&
        before[x] === after[x - diagonal]
      ) {
        x += 1;
      }
      furthest[at] = x;
      if (x >= before.length && x - diagonal >= after.length)
        return backwards(before, after, trace);
    }
  }
  return [...before.map((line): Edit => ['-', line]), ...after.map((line): Edit => ['+', line])];
}

function backwards(
  before: readonly string[],
  after: readonly string[],
  trace: readonly Int32Array[],
): readonly Edit[] {
  const edits: Edit[] = [];
  let [x, y] = [before.length, after.length];
  for (let count = trace.length - 1; count >= 0; count -= 1) {
    const furthest = trace[count] ?? new Int32Array();
    const place = (diagonal: number): number => furthest[diagonal + count + 1] ?? 0;
    const diagonal = x - y;
    const isDown =
      diagonal === -count || (diagonal !== count && place(diagonal + 1) >= place(diagonal - 1) + 1);
    const from = count === 0 ? 0 : place(isDown ? diagonal + 1 : diagonal - 1);
    const fromY = count === 0 ? 0 : from - (isDown ? diagonal + 1 : diagonal - 1);
    const [endX, endY] = count === 0 ? [0, 0] : isDown ? [from, fromY + 1] : [from + 1, fromY];
    while (x > endX && y > endY) {
      edits.push([' ', before[x - 1] ?? '']);
      [x, y] = [x - 1, y - 1];
    }
    if (count > 0) edits.push(isDown ? ['+', after[y - 1] ?? ''] : ['-', before[x - 1] ?? '']);
    [x, y] = [from, fromY];
  }
  return edits.toReversed();
}

/** Groups nearby edits into hunks, including context lines. */
function hunksOf(edits: readonly Edit[]): readonly (readonly [number, number])[] {
  const hunks: [number, number][] = [];
  for (const [index, [kind]] of edits.entries()) {
    if (kind === ' ') continue;
    const start = Math.max(0, index - contextLines);
    const end = Math.min(edits.length, index + contextLines + 1);
    const last = hunks.at(-1);
    if (last !== undefined && start <= last[1]) last[1] = end;
    else hunks.push([start, end]);
  }
  return hunks;
}

function hunkText(edits: readonly Edit[], start: number, end: number): string {
  const count = (side: '-' | '+', from: number, to: number): number =>
    edits.slice(from, to).filter(([kind]) => kind === ' ' || kind === side).length;
  const range = (side: '-' | '+'): string => {
    const [first, lines] = [count(side, 0, start), count(side, start, end)];
    return `${side}${lines === 0 ? first : first + 1},${lines}`;
  };
  const body = edits.slice(start, end).map(([kind, line]) => `${kind}${line}`);
  return `@@ ${range('-')} ${range('+')} @@\n${body.join('')}`;
}
