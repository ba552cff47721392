/** Matches Redis patterns: `*`, `?`, `[abc]`, `[^a-c]`, and `\` as an escape. */

/** Whether the pattern matches the whole text. The time is at most proportional to the product of both lengths. */
export function globMatches(pattern: string, text: string): boolean {
  let [at, place] = [0, 0];
  let star: { readonly at: number; place: number } | undefined;
  while (place < text.length || at < pattern.length) {
    if (pattern[at] === '*') {
      star = { at, place };
      at += 1;
      continue;
    }
    const length = place < text.length ? oneAt(pattern, at, text[place] ?? '') : 0;
    if (length > 0) {
      at += length;
      place += 1;
    } else if (star !== undefined && star.place < text.length) {
      // Extends the match of the last `*` by one character. Earlier stars need not be reconsidered.
      star.place += 1;
      at = star.at + 1;
      place = star.place;
    } else {
      return false;
    }
  }
  return true;
}

/** Matches one character. @returns the length of the matched part of the pattern, or 0 if there is no match */
function oneAt(pattern: string, at: number, character: string): number {
  switch (pattern[at]) {
    case undefined:
      return 0;
    case '?':
      return 1;
    case '\\':
      if (at + 1 < pattern.length) return pattern[at + 1] === character ? 2 : 0;
      return character === '\\' ? 1 : 0;
    case '[':
      return classAt(pattern, at, character);
    default:
      return pattern[at] === character ? 1 : 0;
  }
}

function classAt(pattern: string, start: number, character: string): number {
  const isNegated = pattern[start + 1] === '^';
  let at = start + (isNegated ? 2 : 1);
  let isIn = false;
  while (at < pattern.length && pattern[at] !== ']') {
    if (pattern[at] === '\\' && at + 1 < pattern.length) {
      isIn ||= pattern[at + 1] === character;
      at += 2;
    } else if (pattern[at + 1] === '-' && at + 2 < pattern.length) {
      const [one = '', other = ''] = [pattern[at], pattern[at + 2]];
      // The two ends of a range may be in either order.
      isIn ||= (one <= character && character <= other) || (other <= character && character <= one);
      at += 3;
    } else {
      isIn ||= pattern[at] === character;
      at += 1;
    }
  }
  return isIn === isNegated ? 0 : Math.min(at + 1, pattern.length) - start;
}
