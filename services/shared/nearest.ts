/** Returns the candidate with the smallest edit distance (Levenshtein), or the first of several equally close
 *  candidates.
 *  @param candidates at least one */
export function nearest(text: string, candidates: readonly string[]): string {
  const ranked = candidates.map((name) => ({ name, distance: distance(text, name) }));
  return ranked.reduce((best, one) => (one.distance < best.distance ? one : best)).name;
}

function distance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (const [i, letter] of Array.from(from).entries()) {
    const next = [i + 1];
    for (const [j, other] of Array.from(to).entries()) {
      const changed = (row[j] ?? 0) + (letter === other ? 0 : 1);
      next.push(Math.min(changed, (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
