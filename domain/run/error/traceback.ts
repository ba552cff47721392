/** Parses the tracebacks that Python writes to stderr. Pure. */
import { levelOfRecord } from '../log-level.ts';
import type { Exception, Frame, RaisedError, Relation, RelatedException } from './error.ts';
import { endOfRecord, heading } from './plain-log.ts';

const groupHeading = 'Exception Group Traceback (most recent call last):';
const chained: ReadonlyMap<string, Relation> = new Map([
  ['The above exception was the direct cause of the following exception:', 'cause'],
  ['During handling of the above exception, another exception occurred:', 'context'],
]);
const place = /^ {2}File "(?<file>.+)", line (?<line>\d+)(?:, in (?<function>.+))?$/;
const named = /^(?<type>[A-Za-z_][\w.<>]*)(?::(?: (?<message>.*))?)?$/s;
/** Matches lines that follow a traceback but are not part of it. Examples are other messages from the interpreter
 *  and closing quotes around the traceback of another process. The border of a rich box around a member of an
 *  exception group is another example. */
const unrelated =
  /^(?:Exception ignored |Error in atexit|Fatal Python error|"""$|'''$|[╭+][─-]+ Sub-exception #)/;
/** Matches the start of a log record. Some records have no level. */
const logged =
  /^(?:\[?\d{2,4}-\d\d-\d\d[T ]|\[?\d\d:\d\d:\d\d|\[?(?:DEBUG|INFO|WARNING|ERROR|CRITICAL)\b|\{"|(?:ts|time|timestamp)=|[\w.]+ - [A-Z]+ - )/;
/** Matches the line before the first member of an exception group. */
const opensMembers = /^\s*\+-\+-+ /;
/** The maximum depth of nested exception groups. Deeper groups are omitted. */
const maxGroups = 3;
/** Matches the markers that Python writes below a line of code. */
const markers = /^[\s~^]+$/;
const fatal = 'Fatal Python error: ';
/** Matches the heading that `faulthandler.dump_traceback_later` writes before the call stacks of all threads. */
const timedOut = /^Timeout \(\d+:\d\d:\d\d(?:\.\d+)?\)!$/;
/** Matches the heading before the call stack of the thread that caused a fatal error. The innermost call is first. */
const fatalHeading = /^(?:Current thread 0x[\da-f]+|Stack)\b.* \(most recent call first\):$/;
const threadHeading = /^Thread 0x[\da-f]+\b.* \(most recent call first\):$/;
const fatalPlace = /^ {2}File "(?<file>.+)", line (?<line>\d+) in (?<function>.+)$/;

/** Locates the script's own code. */
export interface CodePlaces {
  /** The folder of the script's files, without a trailing slash, as written in tracebacks. */
  readonly root: string;
}

/** Parses the last exception in the text.
 *  @param text the end of a run's stderr
 *  @returns `undefined` if the text contains no traceback */
export function parseTraceback(text: string, places: CodePlaces): RaisedError | undefined {
  return parse(text, { places, groups: maxGroups, isLog: true });
}

/** Parses one exception and its causes in the format that Python uses to send an exception to another process. The
 *  exception messages may themselves contain tracebacks and log records.
 *  @param message the message of the exception, if known */
export function parseFormatted(
  text: string,
  places: CodePlaces,
  message?: string,
): RaisedError | undefined {
  const whole = text.trimEnd();
  const known = message?.trimEnd() ?? '';
  const isKnown = known !== '' && whole.endsWith(known);
  const [first = ''] = known.split('\n');
  const short = isKnown ? whole.slice(0, -known.length) + first : whole;
  const error = parse(short, { places, groups: maxGroups, isLog: false });
  return error && isKnown ? { ...error, message: known } : error;
}

/** Parses the last fatal error of the interpreter, which `faulthandler` reports.
 *  @param text the end of a run's stderr
 *  @returns `undefined` if the text contains no fatal error */
export function parseFatalError(text: string, places: CodePlaces): Exception | undefined {
  const lines = text.split('\n').map((line) => line.trimEnd());
  const start = lines.findLastIndex((line) => line.startsWith(fatal));
  if (start < 0) return undefined;
  const message = lines[start]?.slice(fatal.length) ?? '';
  const thread = lines.findIndex((line, index) => index > start && fatalHeading.test(line));
  const frames = thread < 0 ? [] : callsOf(lines.slice(thread + 1), places);
  return { type: 'Fatal Python error', message, frames };
}

/** Parses the call stack of the main thread from a report of `faulthandler.dump_traceback_later` at the end of the
 *  text.
 *  @param text the end of a run's stderr
 *  @returns `undefined` if the text does not end with such a report */
export function parseTimeout(text: string, places: CodePlaces): Exception | undefined {
  const lines = text.trimEnd().split('\n');
  const start = lines.findLastIndex((line) => timedOut.test(line));
  const rest = start < 0 ? [] : lines.slice(start + 1);
  const isReport = (line: string) => line === '' || /^ {2}/.test(line) || threadHeading.test(line);
  // The main thread is the oldest thread and is therefore reported last.
  const thread = rest.findLastIndex((line) => threadHeading.test(line));
  if (thread < 0 || !rest.every(isReport)) return undefined;
  const frames = callsOf(rest.slice(thread + 1), places);
  return { type: 'faulthandler', message: lines[start] ?? '', frames };
}

/** @param lines the lines of the call stack, innermost call first */
function callsOf(lines: readonly string[], places: CodePlaces): readonly Frame[] {
  const frames: Frame[] = [];
  for (const line of lines) {
    const at = fatalPlace.exec(line)?.groups;
    if (at === undefined) break;
    frames.unshift(frameOf(at, '', places));
  }
  return frames;
}

/** Whether the last traceback in the text belongs to a log record, such as a record from `logging.exception`. The
 *  script has already handled such an exception. */
export function isLogged(text: string): boolean {
  const lines = text.split('\n').map((line) => line.trimEnd());
  const headingBefore = (end: number) =>
    lines.slice(0, end).findLastIndex((line) => line === heading || line === `  + ${groupHeading}`);
  let start = headingBefore(lines.length);
  // Chained exceptions belong to the same record.
  while (chained.has(lines[start - 2] ?? '')) start = headingBefore(start - 2);
  const level = levelOfRecord(lines[start - 1] ?? '');
  return level === 'warning' || level === 'error' || level === 'critical';
}

interface Reading {
  readonly places: CodePlaces;
  /** The maximum depth of nested exception groups. */
  readonly groups: number;
  /** Whether unrelated text may follow each traceback. */
  readonly isLog: boolean;
}

function parse(text: string, reading: Reading): RaisedError | undefined {
  const lines = text.split('\n').map((line) => line.trimEnd());
  const blocks = splitBlocks(lines, reading);
  let error: RaisedError | undefined;
  for (const { relation, lines: block } of blocks) {
    const next = parseBlock(block, reading);
    if (next === undefined) continue;
    const before = relation && error ? related(error, relation) : [];
    error = { ...next, causes: [...next.causes, ...before] };
  }
  return error;
}

/** Converts an exception and its causes to causes of another exception. */
export function related(
  { causes, ...error }: RaisedError,
  relation: Relation,
): readonly RelatedException[] {
  const deeper = causes.map((cause) => ({ ...cause, depth: (cause.depth ?? 1) + 1 }));
  return [{ ...error, relation, depth: 1 }, ...deeper];
}

interface Block {
  /** How the exception of the previous block is related to the exception of this block. */
  readonly relation: Relation | undefined;
  readonly lines: string[];
}

/** Splits the lines into one block per exception. A block ends before the next heading. */
function splitBlocks(lines: readonly string[], { isLog }: Reading): readonly Block[] {
  const blocks: Block[] = [];
  let relation: Relation | undefined;
  for (const line of lines) {
    const isMember = /^\s+\|/.test(line);
    const bare = line.replace(/^\s*\+ /, '');
    const canBegin = isLog || relation !== undefined || blocks.length === 0;
    if (chained.has(line)) relation = chained.get(line);
    else if (canBegin && !isMember && isFirst(line, bare, blocks)) {
      blocks.push({ relation, lines: [bare] });
      relation = undefined;
    } else blocks.at(-1)?.lines.push(line);
  }
  return blocks;
}

function isFirst(line: string, bare: string, blocks: readonly Block[]): boolean {
  return bare === heading || bare === groupHeading || isAlone(line, blocks);
}

/** Whether the line begins a report without a heading. Python writes such a report if the main file cannot be
 *  compiled. */
function isAlone(line: string, blocks: readonly Block[]): boolean {
  const at = place.exec(line)?.groups;
  return at !== undefined && at['function'] === undefined && !isWithin(blocks.at(-1));
}

/** Whether more frames may follow, because the line with the exception type has not been found yet. */
function isWithin(block: Block | undefined): boolean {
  return block !== undefined && !block.lines.slice(1).some((line) => /^\S/.test(line));
}

function parseBlock(lines: readonly string[], reading: Reading): RaisedError | undefined {
  return lines[0] === groupHeading ? parseGroup(lines, reading) : parsePlain(lines, reading);
}

/** Parses the frames, the line with the exception type, and the remaining lines of the message. */
function parsePlain(lines: readonly string[], { places, isLog }: Reading): RaisedError | undefined {
  const frames: Frame[] = [];
  let index = lines[0]?.trim() === heading ? 1 : 0;
  for (; index < lines.length; index += 1) {
    const line = lines[index] ?? '';
    const at = place.exec(line)?.groups;
    if (at !== undefined) frames.push(frameOf(at, lines[index + 1] ?? '', places));
    else if (!/^ {2}/.test(line)) break;
  }
  const match = named.exec(lines[index] ?? '')?.groups;
  if (match === undefined) return undefined;
  const rest = lines.slice(index + 1);
  const end = isLog ? rest.findIndex(endsMessage) : -1;
  const more = end < 0 ? rest : rest.slice(0, end);
  const message = [match['message'] ?? '', ...more].join('\n').trimEnd();
  return { type: match['type'] ?? '', message, frames, causes: [] };
}

/** Whether the line cannot be part of an exception message. */
export function endsMessage(line: string): boolean {
  if (line === endOfRecord || unrelated.test(line) || logged.test(line)) return true;
  return levelOfRecord(line) !== null;
}

/** Returns the path of a frame's file relative to the script, or relative to the folder that contains the packages. */
export function placeOfFile(path: string, { root }: CodePlaces): Pick<Frame, 'file' | 'own'> {
  const [, inPackages] = /\/(?:site|dist)-packages\/(.+)$/.exec(path) ?? [];
  const own = inPackages === undefined && path.startsWith(`${root}/`);
  return { file: own ? path.slice(root.length + 1) : (inPackages ?? path), own };
}

function frameOf(
  at: Readonly<Record<string, string | undefined>>,
  below: string,
  places: CodePlaces,
): Frame {
  const isCode = below.startsWith('    ') && !markers.test(below);
  return {
    ...placeOfFile(at['file'] ?? '', places),
    line: Number(at['line']),
    function: at['function'] ?? '<module>',
    code: isCode ? below.trim() : '',
  };
}

/** Parses an exception group. A border line precedes each member. If a member is itself a group, its lines are
 *  indented further. */
function parseGroup(lines: readonly string[], reading: Reading): RaisedError | undefined {
  const opening = lines.findIndex((line) => opensMembers.test(line));
  const start = opening < 0 ? lines.length : opening;
  const own = lines.slice(lines[0] === groupHeading ? 1 : 0, start);
  const group = parsePlain(
    own.map((line) => line.replace(/^\s*\| ?/, '')),
    reading,
  );
  const inner = { ...reading, groups: reading.groups - 1 };
  const members = reading.groups === 0 ? [] : membersOf(lines.slice(start));
  const causes = members.flatMap((member) => {
    const error = parse(member.join('\n'), inner) ?? parseGroup(member, inner);
    return error === undefined ? [] : related(error, 'member');
  });
  return group && { ...group, causes };
}

/** @param lines the lines from the border of the first member. Its `+-+` is two columns to the left of the members. */
function membersOf(lines: readonly string[]): readonly (readonly string[])[] {
  const indent = ' '.repeat((lines[0] ?? '').indexOf('+') + 2);
  const members: string[][] = [];
  for (const [index, line] of lines.entries()) {
    const rest = line.startsWith(indent) ? line.slice(indent.length) : '';
    if (/^\+-+$/.test(rest)) break;
    if (index === 0 || /^\+-+ /.test(rest)) members.push([]);
    else members.at(-1)?.push(rest.startsWith('|') ? rest.replace(/^\| ?/, '') : line);
  }
  return members;
}
