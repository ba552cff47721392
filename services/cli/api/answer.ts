/** Prints API responses: as tables and records for people, as the API's JSON for programs. */
import { createWriteStream } from 'node:fs';
import { realpath, rename, rm, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Use } from '../command.ts';
import { printTable } from '../table.ts';
import type { Terminal } from '../terminal.ts';
import { isNested, linesOfRecord, textOf } from './lines.ts';

const maxColumns = 8;
const maxCellLength = 60;

type Row = Readonly<Record<string, unknown>>;

/** Prints a list as a table, and any other response as a record. */
export function printAnswer(body: unknown, terminal: Terminal): void {
  const { items, next_cursor: _, ...others } = rowOf(body);
  if (!Array.isArray(items)) return printRecord(rowOf(body), terminal);
  printTable(items.map(rowOf), columnsOf(items.map(rowOf)), terminal);
  printRecord(others, terminal);
}

function rowOf(value: unknown): Row {
  return isNested(value) ? (value as Row) : { value };
}

/** The columns of a table: the first fields that at least one item has and that fit in a cell. */
function columnsOf(rows: readonly Row[]) {
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  return names
    .filter((name) => rows.some((row) => textOf(row[name]) !== ''))
    .filter((name) => rows.every((row) => ![row[name]].flat().some(isNested)))
    .slice(0, maxColumns)
    .map((name) => ({
      title: name.replaceAll('_', ' '),
      text: (row: Row) => shortened(textOf(row[name])),
    }));
}

function printRecord(row: Row, terminal: Terminal): void {
  for (const line of linesOfRecord(row)) terminal.line(line);
}

/** Shortens a text to fit in a table cell. */
export const shortened = (text: string): string =>
  text.length > maxCellLength ? `${text.slice(0, maxCellLength - 1)}…` : text;

/** Writes a body to the file that `--file` names, or to standard output. */
export async function writeBody(answer: Readable, use: Use): Promise<void> {
  const { options, folder, terminal } = use;
  const file = options.text('file');
  if (file !== undefined) {
    await writeFileOf(answer, resolve(folder, file), use);
    return;
  }
  for await (const chunk of answer) {
    terminal.write(chunk as Uint8Array);
    await terminal.drained();
  }
}

/** Writes a body to a file and prints its path. An existing file keeps its mode, and is replaced only by the complete
 *  body. A device or a pipe is written directly. */
export async function writeFileOf(
  answer: Readable,
  target: string,
  { terminal, signal }: Use,
): Promise<void> {
  const present = await stat(target).catch(() => undefined);
  if (present !== undefined && !present.isFile()) {
    await pipeline(answer, createWriteStream(target), { signal });
    terminal.line(target);
    return;
  }
  // Replaces the file behind a symbolic link, not the link.
  const file = present === undefined ? target : await realpath(target);
  const temporary = `${file}.part`;
  try {
    const mode = present?.mode ?? 0o600;
    await pipeline(answer, createWriteStream(temporary, { mode }), { signal });
    await rename(temporary, file);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
  terminal.line(target);
}
