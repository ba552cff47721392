/** Searches all files of a script. */

export interface SourceFile {
  readonly path: string;
  /** The content, with LF line endings. */
  readonly text: string;
}

export interface FileMatch {
  readonly path: string;
  /** The line number, starting at 1. */
  readonly line: number;
  /** The offset of the match in the file. */
  readonly offset: number;
  /** The part of the line before the match. */
  readonly before: string;
  readonly match: string;
  readonly after: string;
}

const maxMatches = 500;
const shownAround = 60;

/** Returns all matches in file order, at most 500. A line can have several matches. */
export function findInFiles(
  files: readonly SourceFile[],
  wanted: string,
  matchCase: boolean,
): FileMatch[] {
  const found: FileMatch[] = [];
  if (wanted === '') return found;
  const pattern = new RegExp(
    wanted.replace(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`),
    matchCase ? 'gu' : 'giu',
  );
  for (const { path, text } of files) {
    let start = 0;
    for (const [index, line] of text.split('\n').entries()) {
      for (const { index: at, 0: match } of line.matchAll(pattern)) {
        if (found.length === maxMatches) return found;
        const end = at + match.length;
        found.push({
          path,
          line: index + 1,
          offset: start + at,
          before: line.slice(Math.max(0, at - shownAround), at).trimStart(),
          match,
          after: line.slice(end, end + shownAround),
        });
      }
      start += line.length + 1;
    }
  }
  return found;
}
