/** Formats the values of API responses as lines for people. */
import type { Exception, RunError } from '#domain/run/error/error.ts';
import { plain } from '../table.ts';

/** The lines of a record. Multi-line texts, objects and lists of objects are indented below their names. */
export function linesOfRecord(record: object): readonly string[] {
  const width = Math.max(0, ...Object.keys(record).map((name) => name.length));
  return Object.entries(record).flatMap(([name, value]) => {
    const title = plain(name.replaceAll('_', ' '));
    const lines = linesOf(value);
    if (isBlock(value) || lines.length > 1) return [title, ...indented(lines)];
    return [`${title.padEnd(width)}  ${lines[0] ?? ''}`.trimEnd()];
  });
}

/** Formats a value on one line. */
export function textOf(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (Array.isArray(value) && !value.some(isNested)) return value.map(textOf).join(', ');
  return typeof value === 'string' ? value : JSON.stringify(value);
}

export function isNested(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isBlock(value: unknown): boolean {
  const isEmpty = isNested(value) && Object.keys(value).length === 0;
  return [value].flat().some(isNested) && !isEmpty;
}

function linesOf(value: unknown): readonly string[] {
  if (!isBlock(value)) return textOf(value).trimEnd().split('\n').map(printable);
  if (Array.isArray(value)) {
    return value.flatMap((one) =>
      linesOf(one).map((line, at) => `${at === 0 ? '-' : ' '} ${line}`),
    );
  }
  return isError(value) ? linesOfError(value) : linesOfRecord(value as object);
}

/** Code in diffs and tracebacks can contain tabs, which `plain` would replace. */
function printable(line: string): string {
  return plain(line.replaceAll('\t', '    '));
}

function isError(value: unknown): value is RunError {
  return isNested(value) && ['type', 'message', 'frames', 'causes'].every((name) => name in value);
}

/** The exception and its causes, each with the frames in the script's own code. */
function linesOfError(error: RunError): readonly string[] {
  const { message, source, causes } = error;
  return [
    ...(source === 'platform' ? message.split('\n').map(printable) : linesOfException(error)),
    ...causes.flatMap((cause) => [`${cause.relation}:`, ...indented(linesOfException(cause))]),
  ];
}

function linesOfException({ type, message, frames }: Exception): readonly string[] {
  const own = frames.filter((frame) => frame.own);
  return [
    ...(message === '' ? type : `${type}: ${message}`).split('\n').map(printable),
    ...own.flatMap(({ file, line, function: name, code }) =>
      indented(
        [`${file}:${line} in ${name}`, ...(code === '' ? [] : [`  ${code}`])].map(printable),
      ),
    ),
  ];
}

const indented = (lines: readonly string[]): readonly string[] => lines.map((line) => `  ${line}`);
