/** Parses the tracebacks that Python writes to stderr. Pure. */
import type { Frame, RaisedError, Relation, RelatedException } from './error.ts';

const heading = 'Traceback (most recent call last):';
const groupHeading = 'Exception Group Traceback (most recent call last):';
const chained: ReadonlyMap<string, Relation> = new Map([
  ['The above exception was the direct cause of the following exception:', 'cause'],
  ['During handling of the above exception, another exception occurred:', 'context'],
]);
const place = /^ {2}File "(?<file>.+)", line (?<line>\d+)(?:, in (?<function>.+))?$/;
const named = /^(?<type>[A-Za-z_][\w.<>]*)(?:: (?<message>.*))?$/s;
/** Other text that the interpreter writes after a traceback. */
const unrelated = /^(?:Exception ignored |Error in atexit|Fatal Python error)/;
/** A record of a logging library, which is not part of an exception's message. */
const logged =
  /^(?:\[?\d{2,4}-\d\d-\d\d[T ]|\[?\d\d:\d\d:\d\d|\[?(?:DEBUG|INFO|WARNING|ERROR|CRITICAL)\b|\{"|[\w.]+ - [A-Z]+ - )/;
/** Begins a member of an exception group, or ends the last one. */
const border = /^\s*\+[-+]+(?: (?:\d+|\.\.\.) -+)?$/;
/** Exception groups below this depth are omitted. */
const maxGroups = 3;
/** Markers below a line of code. */
const markers = /^[\s~^]+$/;

/** Locates the frames of a script's own code. */
export interface CodePlaces {
  /** The folder of the script's files as the interpreter names it, without a trailing slash. */
  readonly root: string;
}

/** Finds the last exception in the text.
 *  @param text the end of a run's stderr
 *  @returns `undefined` if the text has no traceback */
export function parseTraceback(text: string, places: CodePlaces): RaisedError | undefined {
  return parse(text, places, maxGroups);
}

function parse(text: string, places: CodePlaces, groups: number): RaisedError | undefined {
  const lines = text.split('\n').map((line) => line.trimEnd());
  const blocks = splitBlocks(lines);
  let error: RaisedError | undefined;
  for (const { relation, lines: block } of blocks) {
    const next = parseBlock(block, places, groups);
    if (next === undefined) continue;
    const before = relation && error ? related(error, relation) : [];
    error = { ...next, causes: [...next.causes, ...before] };
  }
  return error;
}

/** Turns an exception and its causes into causes of another exception. */
function related(
  { causes, ...error }: RaisedError,
  relation: Relation,
): readonly RelatedException[] {
  return [{ ...error, relation }, ...causes];
}

interface Block {
  /** How the exception of the previous block relates to the exception of this block. */
  readonly relation: Relation | undefined;
  readonly lines: string[];
}

/** One block per exception, from its heading to the next heading. */
function splitBlocks(lines: readonly string[]): readonly Block[] {
  const blocks: Block[] = [];
  let relation: Relation | undefined;
  for (const line of lines) {
    const isMember = /^\s+\|/.test(line);
    const bare = line.replace(/^\s*\+ /, '');
    if (chained.has(line)) relation = chained.get(line);
    else if (!isMember && (bare === heading || bare === groupHeading || isAlone(line, blocks))) {
      blocks.push({ relation, lines: [bare] });
      relation = undefined;
    } else blocks.at(-1)?.lines.push(line);
  }
  return blocks;
}

/** Whether the line begins a report without a heading. Python writes such a report if the main file does not
 *  compile. */
function isAlone(line: string, blocks: readonly Block[]): boolean {
  const at = place.exec(line)?.groups;
  return at !== undefined && at['function'] === undefined && !isWithin(blocks.at(-1));
}

/** Whether more frames can follow: the block has not named its exception yet. */
function isWithin(block: Block | undefined): boolean {
  return block !== undefined && !block.lines.slice(1).some((line) => /^\S/.test(line));
}

function parseBlock(
  lines: readonly string[],
  places: CodePlaces,
  groups: number,
): RaisedError | undefined {
  if (lines[0] !== groupHeading) return parsePlain(lines, places);
  return groups === 0 ? undefined : parseGroup(lines, places, groups);
}

/** Parses frames, then the line that names the exception, then the rest of its message. */
function parsePlain(lines: readonly string[], places: CodePlaces): RaisedError | undefined {
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
  const end = rest.findIndex((line) => unrelated.test(line) || logged.test(line));
  const more = end < 0 ? rest : rest.slice(0, end);
  const message = [match['message'] ?? '', ...more].join('\n').trimEnd();
  return { type: match['type'] ?? '', message, frames, causes: [] };
}

/** The file of a frame as users know it: relative to the script, or to the folder of packages. */
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

/** Parses an exception group. Its members follow, each after a border line. A member can be a group itself. */
function parseGroup(
  lines: readonly string[],
  places: CodePlaces,
  groups: number,
): RaisedError | undefined {
  const parts: string[][] = [[]];
  for (const line of lines.slice(1)) {
    if (border.test(line)) parts.push([]);
    else parts.at(-1)?.push(line.replace(/^\s*\| ?/, ''));
  }
  const [own = [], ...members] = parts;
  const group = parsePlain(own, places);
  const causes = members.flatMap((member) => {
    const error = parse(member.join('\n'), places, groups - 1) ?? parsePlain(member, places);
    return error === undefined ? [] : related(error, 'member');
  });
  return group && { ...group, causes };
}
