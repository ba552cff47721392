/** Three-way merge of text, line by line. */
import { lineDiff } from '#lib/runs/compare/line-diff.ts';

export interface Merged {
  readonly text: string;
  /** The number of places where both sides have different changes. In these places, the text contains the changes of
   *  `mine`. */
  readonly overlaps: number;
}

/** Replaces the lines from `from` up to, but not including, `to` in the base. */
interface Hunk {
  readonly from: number;
  readonly to: number;
  readonly lines: readonly string[];
}

/** Applies the changes of both sides to their common base. @returns null if there are too many differences */
export function mergeTexts(base: string, mine: string, theirs: string): Merged | null {
  const lines = base.split('\n');
  const [own, other] = [hunks(lines, mine.split('\n')), hunks(lines, theirs.split('\n'))];
  if (!own || !other) return null;
  const overlapping = other.filter((hunk) => own.some((one) => overlaps(one, hunk)));
  const differing = overlapping.filter((hunk) => !own.some((one) => isSame(one, hunk)));
  const applied = [...own, ...other.filter((hunk) => !overlapping.includes(hunk))];
  const merged: string[] = [];
  let at = 0;
  for (const { from, to, lines: inserted } of applied.toSorted((a, b) => a.from - b.from)) {
    merged.push(...lines.slice(at, from), ...inserted);
    at = to;
  }
  return { text: [...merged, ...lines.slice(at)].join('\n'), overlaps: differing.length };
}

function hunks(base: readonly string[], changed: readonly string[]): Hunk[] | undefined {
  const diff = lineDiff(base, changed);
  if (!diff) return undefined;
  const found: Hunk[] = [];
  let [at, from, lines]: [number, number, string[]] = [0, -1, []];
  const end = () => {
    if (from >= 0) found.push({ from, to: at, lines });
    [from, lines] = [-1, []];
  };
  for (const { kind, text } of diff) {
    if (kind === 'same') end();
    else if (from < 0) from = at;
    if (kind === 'added') lines.push(text);
    else at += 1;
  }
  end();
  return found;
}

/** Adjacent changes also count as overlapping, because their order would be arbitrary. */
function overlaps(one: Hunk, other: Hunk): boolean {
  return one.from <= other.to && other.from <= one.to;
}

function isSame(one: Hunk, other: Hunk): boolean {
  const isSamePlace = one.from === other.from && one.to === other.to;
  return isSamePlace && one.lines.join('\n') === other.lines.join('\n');
}
