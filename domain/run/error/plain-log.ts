/** Converts log records and tracebacks from logging libraries to Python's own format. Pure. */
import { levelOfRecord } from '../log-level.ts';
import { linesOfStack } from './structured-traceback.ts';

/** Marks the end of a converted record. Log lines never contain NUL. */
export const endOfRecord = '\0';

export const heading = 'Traceback (most recent call last):';
const anyHeading = /^ *(?:\+ Exception Group )?Traceback \(most recent call last\):$/m;
// eslint-disable-next-line no-control-regex -- terminal colors begin with ESC
const colours = /\u001b\[[\d;]*m/g;

/** Converts JSON records, and tracebacks from loguru and rich, with or without colors.
 *  @param text the text of one stream
 *  @returns the text without colors. A secret that was split by color codes or line breaks may be contiguous in this
 *  text. */
export function plainLog(text: string): string {
  const lines = linesOf(text).flatMap((line) => recordOf(line) ?? [line]);
  return plainTracebacks(lines).join('\n');
}

function linesOf(text: string): readonly string[] {
  return text
    .replace(colours, '')
    .split('\n')
    .map((line) => line.trimEnd());
}

/** Returns the lines of a JSON record: its level and message, followed by its traceback. */
function recordOf(outer: string): readonly string[] | undefined {
  if (!isObject(outer)) return undefined;
  // One logging library may wrap a JSON record that another library has written.
  const inner = messageOf(parsed(outer)).trim();
  const line = isObject(inner) && levelOfRecord(inner) !== null ? inner : outer;
  const fields = parsed(line);
  const traceback = tracebackIn(fields) ?? tracebackIn(parsed(outer));
  const level = levelOfRecord(line) ?? (traceback && 'error');
  if (level === undefined) return undefined;
  const message = messageOf(fields).split('\n')[0] ?? '';
  const first = `${level.toUpperCase()}: ${anyHeading.test(message) ? '' : message}`;
  const isFailure = level !== 'debug' && level !== 'info';
  const shown = isFailure && traceback ? linesOf(traceback.replaceAll('\0', '\uFFFD')) : [];
  return [first.trimEnd(), ...shown, endOfRecord];
}

function isObject(line: string): boolean {
  return line.startsWith('{') && line.endsWith('}');
}

type Fields = Readonly<Record<string, unknown>>;

function parsed(json: string): Fields {
  try {
    return JSON.parse(json) as Fields;
  } catch {
    return {};
  }
}

function messageOf(fields: Fields): string {
  const { message, msg, event, record, '@message': at, text } = fields;
  // loguru repeats the message in the field `text`.
  const inRecord = isFields(record) ? record['message'] : undefined;
  const found = [message, msg, event, at, inRecord, text].find((one) => typeof one === 'string');
  return typeof found === 'string' ? found : '';
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null;
}

/** Matches the names of fields that may contain a traceback. */
const hasTraceback = /^(?:exc|err|stack|trace|text|message|msg|event)/;
const maxDepth = 2;

function tracebackIn(fields: Fields, depth = maxDepth): string | undefined {
  for (const [name, value] of Object.entries(fields)) {
    if (!hasTraceback.test(name)) continue;
    if (typeof value === 'string') {
      const start = value.search(anyHeading);
      if (start >= 0) return value.slice(start);
    }
    const found = linesOfStack(value)?.join('\n');
    if (found !== undefined) return found;
    const inner = isFields(value) && depth > 1 ? tracebackIn(value, depth - 1) : undefined;
    if (inner !== undefined) return inner;
  }
  return undefined;
}

function plainTracebacks(lines: readonly string[]): readonly string[] {
  const plain: string[] = [];
  for (let index = 0; index < lines.length;) {
    const line = lines[index] ?? '';
    const box = boxAt(lines, index);
    const end = box?.end ?? (anyHeading.test(line) ? endOfDecorated(lines, index) : index);
    if (box === undefined && end === index) plain.push(line);
    else {
      // Python writes one empty line between chained tracebacks.
      while (plain.at(-1) === '' && plain.at(-2) === '') plain.pop();
      plain.push(...(box?.lines ?? lines.slice(index, end).flatMap(undecorated)));
    }
    index = Math.max(end, index + 1);
  }
  return plain;
}

/** Finds the end of the frames in a loguru traceback, which has an empty line after its heading.
 *  @returns `start` for other tracebacks */
function endOfDecorated(lines: readonly string[], start: number): number {
  if (!/^ *\|?$/.test(lines[start + 1] ?? 'none')) return start;
  const end = lines.findIndex(
    (line, index) => index > start && /^[^\s>]/.test(line.replace(/^ +\| ?/, '')),
  );
  return end < 0 ? lines.length : end;
}

/** Removes empty lines, variable values, and the mark at the frame that caught the exception. */
function undecorated(line: string): readonly string[] {
  if (/^ *\|?$/.test(line) || /^(?: +\| )? {4}[ │]*[│└]/.test(line)) return [];
  return [line.replace(/^( +\| )?> File "/, '$1  File "')];
}

/** A traceback that rich has drawn as a box. */
interface Box {
  readonly lines: readonly string[];
  /** The index of the first line after the traceback. */
  readonly end: number;
}

const boxTop = /^(?<indent> *)[╭+][─-]+ Traceback \(most recent call last\) [─-]+[╮+]$/;
const boxPlace = /^(?<file>\S.*):(?<line>\d+) in (?<function>.*)$/;

function boxAt(lines: readonly string[], start: number): Box | undefined {
  const top = lines[start] ?? '';
  const indent = boxTop.exec(top)?.groups?.['indent']?.length;
  if (indent === undefined) return undefined;
  const bottom = lines.findIndex(
    (line, index) => index > start && /^[╰+]/.test(line.slice(indent)),
  );
  if (bottom < 0) return undefined;
  const inner = lines.slice(start + 1, bottom).map((line) => line.slice(indent + 2, -1).trimEnd());
  const rest = textBelow(lines, bottom + 1, indent, top.length - indent);
  const isChained = boxTop.test(lines[rest.end] ?? '');
  const end = indent === 0 || isChained ? [] : [endOfRecord];
  return {
    lines: [heading, ...framesIn(inner, top.length - indent - 4), ...rest.lines, ...end],
    end: rest.end,
  };
}

/** Matches lines that are neither code nor part of a table of variables. */
const startsPlace = /^[^\s❱>\\╭│╰+|]/;

/** @param width the line width at which rich wraps the location of a frame */
function framesIn(inner: readonly string[], width: number): readonly string[] {
  const frames: string[] = [];
  let wrapped: string | undefined;
  for (const line of inner) {
    if (startsPlace.test(line)) {
      wrapped = wrapped === undefined ? line : joined(wrapped, line, width);
      continue;
    }
    const at = boxPlace.exec(wrapped ?? '')?.groups;
    if (at) frames.push(`  File "${at['file']}", line ${at['line']}, in ${at['function']}`);
    wrapped = undefined;
    const [, code] = /^(?:[❱>]|\\u2771) *\d+ (.*)$/.exec(line) ?? [];
    if (code !== undefined) frames.push(`    ${code.replace(/^(?:[│|] {3})*/, '').trim()}`);
  }
  return frames;
}

/** Returns the exception's lines below a box, with wrapped lines joined. If the box is in a column of a log table,
 *  all lines in that column belong to the exception. */
function textBelow(
  lines: readonly string[],
  start: number,
  indent: number,
  width: number,
): { readonly lines: readonly string[]; readonly end: number } {
  const shown: string[] = [];
  let last = '';
  let end = start;
  for (; end < lines.length; end += 1) {
    const line = lines[end] ?? '';
    if (line === endOfRecord || boxTop.test(line)) break;
    if (indent > 0 && line !== '' && !line.startsWith(' '.repeat(indent))) break;
    const text = line.slice(indent);
    const [word = ''] = text.split(' ');
    const isWrapped = last !== '' && text !== '' && last.length + 1 + word.length > width;
    if (isWrapped) shown.push(joined(shown.pop() ?? '', text, width, last));
    else if (indent === 0 && shown.length > 0) break;
    else shown.push(text);
    last = text;
  }
  return { lines: shown, end };
}

/** Joins two parts of a wrapped line. A word that fills the entire line is continued without a space.
 *  @param last the last line of `text` */
function joined(text: string, next: string, width: number, last = text): string {
  return last.length >= width && !last.includes(' ') ? text + next : `${text} ${next}`;
}
