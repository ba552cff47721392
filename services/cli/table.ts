/** Prints rows as tables for people, or as data for programs. */
import type { Terminal } from './terminal.ts';

export interface Column<Row> {
  readonly title: string;
  readonly text: (row: Row) => string;
}

/** Prints rows below their column titles. Prints nothing if there are no rows. */
export function printTable<Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  terminal: Terminal,
): void {
  if (rows.length === 0) return;
  const cells = rows.map((row) => columns.map(({ text }) => plain(text(row))));
  const titles = columns.map(({ title }) => title.toUpperCase());
  const widths = titles.map((title, at) =>
    Math.max(title.length, ...cells.map((row) => row[at]?.length ?? 0)),
  );
  const lineOf = (row: readonly string[]) =>
    row
      .map((cell, at) => cell.padEnd(widths[at] ?? 0))
      .join('  ')
      .trimEnd();
  const head = lineOf(titles);
  terminal.line(terminal.colors ? `\u001B[1m${head}\u001B[0m` : head);
  for (const row of cells) terminal.line(lineOf(row));
}

/** Replaces control characters with `?`, because text from other users could contain terminal escape sequences. */
export function plain(text: string): string {
  return text.replaceAll(/\p{Cc}/gu, '?');
}

/** Like `plain`, but keeps line breaks and tabs. */
export function plainLines(text: string): string {
  return text.replaceAll(/(?![\n\t])\p{Cc}/gu, '?');
}
