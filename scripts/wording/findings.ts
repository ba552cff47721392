/** Finds replaced phrases in text, and compares their counts with the baseline. Pure. */
import type { Allowed, Phrase } from './phrases.ts';

export interface Finding {
  readonly path: string;
  /** From 1. */
  readonly line: number;
  /** On one line, in lower case. */
  readonly text: string;
  readonly suggestion: string;
}

/** The number of findings in each file that has any. */
export type Counts = Readonly<Record<string, number>>;

export interface Comparison {
  /** Files with more findings than the baseline permits. */
  readonly risen: readonly string[];
  /** Files with fewer findings than the baseline says. */
  readonly fallen: readonly string[];
}

// Comments and paragraphs wrap anywhere, so a phrase may continue behind the marker of the next line.
const gap = String.raw`(?:[ \t]+|[ \t]*\n[ \t]*(?:(?:\*|\/\/|#|--|>)[ \t]*)?)`;

/** Returns a function that lists the findings of one file, in the order of its lines. */
export function createFinder(
  phrases: readonly Phrase[],
  allowed: readonly Allowed[],
): (path: string, text: string) => Finding[] {
  const matchers = phrases.map(({ pattern, suggestion, isIdentifier }) => ({
    expression: new RegExp(
      String.raw`(?<![\w-])(?:${pattern.replaceAll(' ', gap)})(?![\w-])`,
      isIdentifier ? 'gu' : 'giu',
    ),
    suggestion,
  }));
  return (path, text) => {
    const exceptions = allowed.filter((one) => one.path.test(path));
    if (exceptions.some((one) => one.text === undefined)) return [];
    const exempt = new Set(exceptions.map((one) => one.text));
    return matchers
      .flatMap(({ expression, suggestion }) =>
        Array.from(text.matchAll(expression), (match) => ({
          path,
          line: text.slice(0, match.index).split('\n').length,
          text: onOneLine(match[0]),
          suggestion,
        })),
      )
      .filter((finding) => !exempt.has(finding.text))
      .toSorted((one, other) => one.line - other.line);
  };
}

function onOneLine(text: string): string {
  return text.replaceAll(new RegExp(gap, 'gu'), ' ').toLowerCase();
}

export function countsOf(findings: readonly Finding[]): Counts {
  const counts: Record<string, number> = {};
  for (const { path } of findings) counts[path] = (counts[path] ?? 0) + 1;
  return counts;
}

export function compare(counts: Counts, baseline: Counts): Comparison {
  const paths = [...new Set([...Object.keys(counts), ...Object.keys(baseline)])].toSorted();
  const change = (path: string) => (counts[path] ?? 0) - (baseline[path] ?? 0);
  return {
    risen: paths.filter((path) => change(path) > 0),
    fallen: paths.filter((path) => change(path) < 0),
  };
}

/** The baseline with lower counts taken over. A count never rises, except that new files may have the counts that
 *  deleted files had, so that a file can be moved.
 *  @param exists whether a file of the baseline still exists */
export function lowered(
  counts: Counts,
  baseline: Counts,
  exists: (path: string) => boolean,
): Counts {
  const sum = (paths: readonly string[], of: Counts) =>
    paths.reduce((total, path) => total + (of[path] ?? 0), 0);
  const known = Object.keys(baseline);
  const deleted = known.filter((path) => !exists(path));
  const added = Object.keys(counts).filter((path) => baseline[path] === undefined);
  const areMoved = sum(added, counts) <= sum(deleted, baseline);
  const entries = known
    .map((path): [string, number] => [
      path,
      Math.min(baseline[path] ?? 0, exists(path) ? (counts[path] ?? 0) : 0),
    ])
    .concat(areMoved ? added.map((path): [string, number] => [path, counts[path] ?? 0]) : [])
    .filter(([, count]) => count > 0)
    .toSorted(([one], [other]) => (one < other ? -1 : 1));
  return Object.fromEntries(entries);
}
