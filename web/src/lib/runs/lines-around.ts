/** A line of a file, by its number from 1. */
export interface NumberedLine {
  number: number;
  text: string;
}

/** The lines around a line, as far as they exist; empty if the file has no such line. */
export function linesAround(text: string, line: number, distance = 4): NumberedLine[] {
  const lines = text.split(/\r?\n/);
  if (text === '' || line < 1 || line > lines.length) return [];
  const from = Math.max(1, line - distance);
  return lines
    .slice(from - 1, line + distance)
    .map((content, index) => ({ number: from + index, text: content }));
}
