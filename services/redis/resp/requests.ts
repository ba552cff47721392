/** Parses bytes into commands. As in Redis, a command is an array of bulk strings or an inline command. The result
 *  never depends on how the bytes are divided into chunks. */
import { splitInline } from './inline.ts';

/** A command name and its arguments, as bytes. */
export type Request = readonly Buffer[];

export interface RequestLimits {
  readonly maxArguments: number;
  readonly maxArgumentBytes: number;
  /** The maximum total size of a command's arguments. */
  readonly maxCommandBytes: number;
  /** The beginning of error messages about exceeded limits. */
  readonly complaint: 'invalid' | 'unauthenticated';
}

/** The limits before authentication, which equal those of Redis. */
export const unauthenticatedLimits: RequestLimits = {
  maxArguments: 10,
  maxArgumentBytes: 16 * 1024,
  maxCommandBytes: 64 * 1024,
  complaint: 'unauthenticated',
};

export const authenticatedLimits: RequestLimits = {
  maxArguments: 1024,
  maxArgumentBytes: 1024 * 1024,
  maxCommandBytes: 4 * 1024 * 1024,
  complaint: 'invalid',
};

/** Thrown for bytes that violate the protocol. The rest of the stream cannot be parsed, so the connection must be
 *  closed. */
export class ProtocolError extends Error {
  constructor(message: string) {
    super(`Protocol error: ${message}`);
    this.name = 'ProtocolError';
  }
}

const maxInlineBytes = 64 * 1024;
/** The maximum length of a line such as `*3` or `$12`. */
const maxHeaderBytes = 64;
const lineEnd = Buffer.from('\r\n');
const asterisk = '*'.codePointAt(0);
const lineFeed = 0x0a;
const carriageReturn = 0x0d;

interface Unfinished {
  readonly arguments: Buffer[];
  left: number;
  bytes: number;
  /** The size of the next argument, if it has been read. */
  nextBytes: number | undefined;
}

export class RequestReader {
  #pieces: Buffer[] = [];
  #length = 0;
  /** The minimum number of buffered bytes with which the next command could be complete. */
  #wanted = 1;
  #unfinished: Unfinished | undefined;

  /** The size of the buffered bytes that form no complete command yet. */
  get waitingBytes(): number {
    return this.#length;
  }

  push(bytes: Buffer): void {
    if (bytes.length === 0) return;
    this.#pieces.push(bytes);
    this.#length += bytes.length;
  }

  /** Returns the next command, or `undefined` while it is incomplete.
   *  @throws ProtocolError, after which no more commands can be read */
  next(limits: RequestLimits): Request | undefined {
    while (this.#length >= this.#wanted) {
      const unfinished = this.#unfinished;
      const found = unfinished === undefined ? this.#begin(limits) : this.#goOn(unfinished, limits);
      if (found === 'more') return undefined;
      if (found !== 'nothing') return found;
    }
    return undefined;
  }

  /** Starts a new command. Reads its number of arguments, or a whole inline command. */
  #begin(limits: RequestLimits): Request | 'more' | 'nothing' {
    const bytes = this.#whole();
    if (bytes[0] !== asterisk) return this.#inline(bytes);
    const count = this.#header(bytes, 'too big mbulk count string');
    if (count === 'more') return 'more';
    if (count === undefined) throw new ProtocolError('invalid multibulk length');
    if (count > limits.maxArguments) {
      throw new ProtocolError(`${limits.complaint} multibulk length`);
    }
    if (count > 0) {
      this.#unfinished = { arguments: [], left: count, bytes: 0, nextBytes: undefined };
    }
    return 'nothing';
  }

  #inline(bytes: Buffer): Request | 'more' | 'nothing' {
    const end = bytes.subarray(0, maxInlineBytes + 1).indexOf(lineFeed);
    if (end === -1) {
      if (bytes.length > maxInlineBytes) throw new ProtocolError('too big inline request');
      this.#wanted = bytes.length + 1;
      return 'more';
    }
    const line = bytes.subarray(0, bytes[end - 1] === carriageReturn ? end - 1 : end);
    this.#take(end + 1);
    const words = splitInline(line);
    if (words === undefined) throw new ProtocolError('unbalanced quotes in request');
    return words.length === 0 ? 'nothing' : words;
  }

  #goOn(unfinished: Unfinished, limits: RequestLimits): Request | 'more' | 'nothing' {
    const bytes = this.#whole();
    if (unfinished.nextBytes === undefined) {
      if (bytes[0] !== '$'.codePointAt(0)) {
        throw new ProtocolError(`expected '$', got '${String.fromCodePoint(bytes[0] ?? 0)}'`);
      }
      const length = this.#header(bytes, 'too big bulk count string');
      if (length === 'more') return 'more';
      if (length === undefined || length < 0) throw new ProtocolError('invalid bulk length');
      unfinished.bytes += length;
      if (length > limits.maxArgumentBytes || unfinished.bytes > limits.maxCommandBytes) {
        throw new ProtocolError(`${limits.complaint} bulk length`);
      }
      unfinished.nextBytes = length;
      this.#wanted = length + lineEnd.length;
      return 'nothing';
    }
    const { nextBytes } = unfinished;
    if (!bytes.subarray(nextBytes, nextBytes + 2).equals(lineEnd)) {
      throw new ProtocolError('expected the end of the argument');
    }
    unfinished.arguments.push(bytes.subarray(0, nextBytes));
    unfinished.nextBytes = undefined;
    unfinished.left -= 1;
    this.#take(nextBytes + lineEnd.length);
    if (unfinished.left > 0) return 'nothing';
    this.#unfinished = undefined;
    return unfinished.arguments;
  }

  /** Reads a line such as `*3`. @returns the number, or `undefined` if it is invalid */
  #header(bytes: Buffer, complaint: string): number | undefined | 'more' {
    const end = bytes.subarray(0, maxHeaderBytes).indexOf(lineEnd);
    if (end === -1) {
      if (bytes.length >= maxHeaderBytes) throw new ProtocolError(complaint);
      this.#wanted = bytes.length + 1;
      return 'more';
    }
    const text = bytes.toString('latin1', 1, end);
    this.#take(end + lineEnd.length);
    return /^(0|-?[1-9]\d{0,9})$/.test(text) ? Number(text) : undefined;
  }

  #whole(): Buffer {
    const [only = Buffer.alloc(0)] = this.#pieces;
    if (this.#pieces.length === 1) return only;
    const whole = Buffer.concat(this.#pieces);
    this.#pieces = [whole];
    return whole;
  }

  #take(count: number): void {
    const [whole] = this.#pieces;
    if (whole === undefined) return;
    this.#length = whole.length - count;
    this.#pieces = this.#length === 0 ? [] : [whole.subarray(count)];
    this.#wanted = 1;
  }
}
