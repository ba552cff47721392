/** A line of a file with its number, which starts at 1. */
export interface NumberedLine {
  number: number;
  text: string;
}

/** Returns the line and its neighbors, or an empty list if the file has no such line. */
export function linesAround(text: string, line: number, distance = 4): NumberedLine[] {
  const lines = text.split(/\r?\n/);
  if (text === '' || line < 1 || line > lines.length) return [];
  const from = Math.max(1, line - distance);
  return lines
    .slice(from - 1, line + distance)
    .map((content, index) => ({ number: from + index, text: content }));
}

/** Returns the number of the matching line in another version of the file: the nearest line with the same text, or
 *  undefined. */
export function lineInOther(text: string, line: number, other: string): number | undefined {
  const wanted = text.split(/\r?\n/)[line - 1]?.trim();
  let nearest: number | undefined;
  for (const [index, content] of other.split(/\r?\n/).entries()) {
    const number = index + 1;
    const isNearer = nearest === undefined || Math.abs(number - line) < Math.abs(nearest - line);
    if (content.trim() === wanted && isNearer) nearest = number;
  }
  return nearest;
}
