/** Splits a process's output into lines that can be stored. The result does not depend on how the bytes are divided
 *  into chunks. As in a terminal, text after a carriage return replaces the line, so a progress bar becomes one line
 *  instead of hundreds. */

/** The maximum length of a line. Longer lines are split. */
export const MAX_LINE_BYTES = 64 * 1024;

export interface LogLine {
  readonly stream: 'stdout' | 'stderr' | 'system';
  readonly text: string;
}

export interface LineSplitter {
  /** Adds bytes. @returns the completed lines; the caller may reuse the buffer afterwards */
  push(stream: 'stdout' | 'stderr', bytes: Uint8Array): LogLine[];
  /** Returns the partial lines, such as a prompt. Text that follows starts a new line.
   *  @param atEnd whether the stream has ended, in which case an incomplete character is returned too */
  flush(atEnd: boolean): LogLine[];
  /** Whether either stream has a partial line. */
  hasPartial(): boolean;
  /** Whether the partial line replaces text that has already been returned, as in a progress bar. */
  isRedrawing(): boolean;
}

const LF = 0x0a;
const CR = 0x0d;
const EMPTY = Buffer.alloc(0);

interface Pending {
  readonly stream: 'stdout' | 'stderr';
  bytes: Buffer;
  /** Whether part of this line has already been returned. If only the line ending follows, no empty line is added. */
  continued: boolean;
  /** Whether the partial line begins or ends with a carriage return. */
  redrawn: boolean;
  /** The number of the `push` call in which the partial line began. Older lines are returned first. */
  since: number;
}

/** Replaces what cannot be stored: PostgreSQL text cannot contain NUL, and JSON in UTF-8 cannot contain a lone
 *  surrogate. */
export function storable(text: string): string {
  return text.replaceAll('\0', '\u2400').toWellFormed();
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}

/** Returns where to split a line that is too long: at the limit, or up to three bytes earlier to keep a character
 *  intact. */
function cutAt(bytes: Buffer, start: number): number {
  const limit = start + MAX_LINE_BYTES;
  for (let at = limit; at > limit - 4; at -= 1) if (!isContinuation(bytes[at])) return at;
  return limit;
}

/** Returns the length of `bytes` without an incomplete character at the end. */
function completeLength(bytes: Buffer): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back += 1) {
    const byte = bytes[bytes.length - back] ?? 0;
    if (isContinuation(byte)) continue;
    const needed = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return needed > back ? bytes.length - back : bytes.length;
  }
  return bytes.length;
}

/** Adds all pieces of `maxBytes` from `bytes[start, end)` to `lines`.
 *  @returns the start of the remaining bytes, which are not added */
function addPieces(
  lines: LogLine[],
  pending: Pending,
  bytes: Buffer,
  start: number,
  maxBytes: number,
  end: number,
): number {
  let from = start;
  while (end - from > maxBytes) {
    const cut = cutAt(bytes, from);
    addText(lines, pending, bytes, from, cut);
    from = cut;
    pending.continued = false;
  }
  return from;
}

function addText(lines: LogLine[], { stream }: Pending, bytes: Buffer, start: number, end: number) {
  lines.push({ stream, text: storable(bytes.toString('utf8', start, end)) });
}

/** Handles carriage returns in `bytes[start, end)`. Keeps the last non-empty part, as a terminal does, and discards the
 *  others. Parts that are too long to buffer are added to `lines`.
 *  @returns the part to display, which is not added to `lines` */
function lastText(
  lines: LogLine[],
  pending: Pending,
  bytes: Buffer,
  start: number,
  end: number,
): { readonly from: number; readonly to: number } {
  let shown = { from: end, to: end };
  for (let at = start; at < end;) {
    const next = bytes.indexOf(CR, at);
    const to = next === -1 || next > end ? end : next;
    if (to > at) shown = { from: addPieces(lines, pending, bytes, at, MAX_LINE_BYTES, to), to };
    if (to < end) pending.redrawn = true;
    at = to + 1;
  }
  return shown;
}

function push(pending: Pending, arrived: Uint8Array): LogLine[] {
  const lines: LogLine[] = [];
  const before = pending.bytes.length;
  const view = Buffer.from(arrived.buffer, arrived.byteOffset, arrived.byteLength);
  const bytes = before === 0 ? view : Buffer.concat([pending.bytes, view]);
  let start = 0;
  for (let at = bytes.indexOf(LF, before); at !== -1; at = bytes.indexOf(LF, start)) {
    const { from, to } = lastText(lines, pending, bytes, start, at);
    const isOnlyAnEnd = pending.continued && from === to;
    if (!isOnlyAnEnd) addText(lines, pending, bytes, from, to);
    pending.continued = false;
    pending.redrawn = false;
    start = at + 1;
  }
  const { from, to } = lastText(lines, pending, bytes, start, bytes.length);
  // A carriage return at the end may be the first half of a CRLF line ending.
  const isCr = bytes.length > start && bytes[bytes.length - 1] === CR;
  pending.bytes = Buffer.concat([bytes.subarray(from, to), isCr ? Buffer.of(CR) : EMPTY]);
  return lines;
}

function flush(pending: Pending, atEnd: boolean): LogLine[] {
  const { bytes } = pending;
  const firstCr = bytes.indexOf(CR);
  const text = firstCr === -1 ? bytes : bytes.subarray(0, firstCr);
  const length = atEnd || firstCr !== -1 ? text.length : completeLength(text);
  // The remaining bytes are an incomplete character or line ending.
  pending.bytes = atEnd
    ? EMPTY
    : Buffer.from(bytes.subarray(firstCr === -1 ? length : bytes.length - 1));
  if (length === 0) return [];
  const lines: LogLine[] = [];
  addText(lines, pending, bytes, 0, length);
  pending.continued = true;
  return lines;
}

/** Creates a splitter for the two output streams of one process. */
export function createLineSplitter(): LineSplitter {
  const stdout: Pending = {
    stream: 'stdout',
    bytes: EMPTY,
    continued: false,
    redrawn: false,
    since: 0,
  };
  const stderr: Pending = {
    stream: 'stderr',
    bytes: EMPTY,
    continued: false,
    redrawn: false,
    since: 0,
  };
  let pushes = 0;

  return {
    push(stream, bytes) {
      const pending = stream === 'stdout' ? stdout : stderr;
      const wasEmpty = pending.bytes.length === 0;
      const lines = push(pending, bytes);
      pushes += 1;
      if (wasEmpty || lines.length > 0) pending.since = pushes;
      return lines;
    },
    flush: (atEnd) =>
      [stdout, stderr]
        .toSorted((a, b) => a.since - b.since)
        .flatMap((pending) => flush(pending, atEnd)),
    hasPartial: () => stdout.bytes.length > 0 || stderr.bytes.length > 0,
    isRedrawing: () =>
      [stdout, stderr].every(
        ({ bytes, redrawn, continued }) => bytes.length === 0 || (redrawn && continued),
      ),
  };
}
