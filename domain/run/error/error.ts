/** What went wrong in a run, as data (contract part 2, "Failures"). */
import type { Failure } from '../run.ts';

/** One place in the code, as a traceback names it. */
export interface Frame {
  /** Of the script's own code: relative to the script's root. */
  readonly file: string;
  readonly line: number;
  readonly function: string;
  /** The source line without indentation; empty where the traceback has none. */
  readonly code: string;
  /** Whether the code is the script's own, and not of a package or of Python. */
  readonly own: boolean;
}

/** An exception: what was raised, and where. */
export interface RaisedError {
  /** The qualified name of the exception's type, without `builtins.`. */
  readonly type: string;
  readonly message: string;
  /** Outermost first. */
  readonly frames: readonly Frame[];
  /** What led to it, nearest first; the members of an exception group. */
  readonly causes: readonly RaisedError[];
}

export const errorSources = ['hook', 'log', 'platform'] as const;
/** Who reported the error: the script's interpreter, the traceback in the log, or the platform. */
export type ErrorSource = (typeof errorSources)[number];

/** The error of a run that failed. Limits and failures of the platform have a `Failure` as their type. */
export interface RunError extends RaisedError {
  readonly source: ErrorSource;
}

export const maxMessageBytes = 4 * 1024;
/** Half of them are the first of a longer list, half the last. */
export const maxFrames = 50;
const maxCauses = 10;
const maxDepth = 3;
const maxNameLength = 300;

/** The error within the limits of what is recorded: long messages, lists and names are cut. */
export function boundedError<One extends RaisedError>(error: One): One {
  return { ...error, ...bounded(error, maxDepth) };
}

function bounded(error: RaisedError, depth: number): RaisedError {
  const { type, message, frames, causes } = error;
  const half = maxFrames / 2;
  const some =
    frames.length <= maxFrames ? frames : [...frames.slice(0, half), ...frames.slice(-half)];
  return {
    type: cut(type),
    message: cutToBytes(message.toWellFormed(), maxMessageBytes),
    frames: some.map((frame) => ({
      ...frame,
      file: frame.file.slice(-maxNameLength).toWellFormed(),
      function: cut(frame.function),
      code: cut(frame.code),
    })),
    causes: depth === 0 ? [] : causes.slice(0, maxCauses).map((one) => bounded(one, depth - 1)),
  };
}

function cut(text: string): string {
  return text.slice(0, maxNameLength).toWellFormed();
}

const encoder = new TextEncoder();

/** The beginning of a text that has at most so many bytes in UTF-8. */
function cutToBytes(text: string, limit: number): string {
  // No character has more than three bytes for each of its code units.
  if (text.length * 3 <= limit) return text;
  const bytes = encoder.encode(text);
  if (bytes.length <= limit) return text;
  return new TextDecoder().decode(bytes.subarray(0, limit)).replace(/\uFFFD$/u, '');
}

/** The error of a run whose end no exception explains. */
export function platformError(failure: Failure, message: string): RunError {
  return boundedError({ type: failure, message, frames: [], causes: [], source: 'platform' });
}
