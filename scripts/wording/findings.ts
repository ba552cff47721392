/** Finds discouraged phrases in text. All functions are pure. */
import type { Allowed, Phrase } from './phrases.ts';

export interface Finding {
  readonly path: string;
  /** The line number, starting at 1. */
  readonly line: number;
  /** The matched text, joined to one line and in lower case. */
  readonly text: string;
  readonly suggestion: string;
}

// White space between two words of a phrase. Text may wrap anywhere, so the next word may follow the comment marker on
// the next line.
const gap = String.raw`(?:[ \t]+|[ \t]*\n[ \t]*(?:(?:\*|\/\/|#|--|>)[ \t]*)?)`;

/** Returns a function that lists the findings in one file, in line order. */
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
