/** From the bytes of a process to lines that can be stored. Pure: what comes out depends on the
 *  bytes alone, never on the pieces in which they arrived. */

/** A line over this many bytes is split (contract, "Run log"). */
export const MAX_LINE_BYTES = 64 * 1024;

export interface LogLine {
  readonly stream: 'stdout' | 'stderr' | 'system';
  readonly text: string;
}

export interface LineSplitter {
  /** Takes bytes and gives the lines that they complete. The bytes may be reused afterwards. */
  push(stream: 'stdout' | 'stderr', bytes: Uint8Array): LogLine[];
  /** Gives what has arrived without a line end, such as a prompt; what follows is a line of its own.
   *  @param atEnd true when nothing follows: then even half a character is given */
  flush(atEnd: boolean): LogLine[];
  /** Whether something waits for its line end. */
  hasPartial(): boolean;
}

const LF = 0x0a;
const CR = 0x0d;
const EMPTY = Buffer.alloc(0);

interface Pending {
  readonly stream: 'stdout' | 'stderr';
  bytes: Buffer;
  /** The start of this line was given already, so that an end alone is no empty line. */
  continued: boolean;
  /** When the partial line began, counted in pushes: the older one is given first. */
  since: number;
}

/** Postgres text holds no NUL, and JSON in UTF-8 no lone surrogate. */
export function storable(text: string): string {
  return text.replaceAll('\0', '\u2400').toWellFormed();
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}

/** Where to cut a line that is too long: at the limit, or up to three bytes before it so that no
 *  character is cut in two. */
function cutAt(bytes: Buffer, start: number): number {
  const limit = start + MAX_LINE_BYTES;
  for (let at = limit; at > limit - 4; at -= 1) if (!isContinuation(bytes[at])) return at;
  return limit;
}

/** Length of `bytes` without a character at its end that is still arriving. */
function completeLength(bytes: Buffer): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back += 1) {
    const byte = bytes[bytes.length - back] ?? 0;
    if (isContinuation(byte)) continue;
    const needed = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return needed > back ? bytes.length - back : bytes.length;
  }
  return bytes.length;
}

/** Adds `bytes[start, end)` to `lines`, in pieces while more than `mostBytes` remain.
 *  @returns where the last piece, which is not added, begins */
function addPieces(
  lines: LogLine[],
  pending: Pending,
  bytes: Buffer,
  start: number,
  mostBytes: number,
  end: number,
): number {
  let from = start;
  while (end - from > mostBytes) {
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

function push(pending: Pending, arrived: Uint8Array): LogLine[] {
  const lines: LogLine[] = [];
  const before = pending.bytes.length;
  const view = Buffer.from(arrived.buffer, arrived.byteOffset, arrived.byteLength);
  const bytes = before === 0 ? view : Buffer.concat([pending.bytes, view]);
  let start = 0;
  for (let at = bytes.indexOf(LF, before); at !== -1; at = bytes.indexOf(LF, start)) {
    const end = at > start && bytes[at - 1] === CR ? at - 1 : at;
    const last = addPieces(lines, pending, bytes, start, MAX_LINE_BYTES, end);
    const isOnlyAnEnd = pending.continued && last === end;
    if (!isOnlyAnEnd) addText(lines, pending, bytes, last, end);
    pending.continued = false;
    start = at + 1;
  }
  // One byte more than the limit could still be the CR of a line that just fits.
  start = addPieces(lines, pending, bytes, start, MAX_LINE_BYTES + 1, bytes.length);
  pending.bytes = start === bytes.length ? EMPTY : Buffer.from(bytes.subarray(start));
  return lines;
}

function flush(pending: Pending, atEnd: boolean): LogLine[] {
  const { bytes } = pending;
  let length = atEnd ? bytes.length : completeLength(bytes);
  if (!atEnd && length === bytes.length && bytes[length - 1] === CR) length -= 1;
  if (length === 0) return [];
  const lines: LogLine[] = [];
  const last = addPieces(lines, pending, bytes, 0, MAX_LINE_BYTES, length);
  addText(lines, pending, bytes, last, length);
  pending.bytes = Buffer.from(bytes.subarray(length));
  pending.continued = true;
  return lines;
}

/** A splitter for the two streams of one process. */
export function createLineSplitter(): LineSplitter {
  const stdout: Pending = { stream: 'stdout', bytes: EMPTY, continued: false, since: 0 };
  const stderr: Pending = { stream: 'stderr', bytes: EMPTY, continued: false, since: 0 };
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
  };
}
