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
export interface Exception {
  /** The qualified name of the exception's type, without `builtins.`. */
  readonly type: string;
  readonly message: string;
  /** Outermost first. */
  readonly frames: readonly Frame[];
}

export const relations = ['cause', 'context', 'member'] as const;
/** How an exception belongs to the one before: it was raised from it, while it was handled, or as a group of it. */
export type Relation = (typeof relations)[number];

export interface RelatedException extends Exception {
  readonly relation: Relation;
}

/** An exception with all that led to it: nearest first, and behind each what led to that one. */
export interface RaisedError extends Exception {
  readonly causes: readonly RelatedException[];
}

export const errorSources = ['hook', 'log', 'platform'] as const;
/** Who reported the error: the script's interpreter, the traceback in the log, or the platform. */
export type ErrorSource = (typeof errorSources)[number];

/** What the history keeps of an error for good. The error itself has text of the script, which can be purged. */
export interface ErrorFact {
  readonly type: string;
  readonly source: ErrorSource;
  /** SHA-256 of the error's fingerprint, lower-case hex: errors with one cause share it. */
  readonly fingerprint: string;
  /** SHA-256 of the error as JSON, lower-case hex. */
  readonly sha256: string;
}

/** The error of a run that failed. Limits and failures of the platform have a `Failure` as their type. */
export interface RunError extends RaisedError {
  readonly source: ErrorSource;
}

export const maxMessageBytes = 4 * 1024;
/** Half of them are the first of a longer list, half the last. */
export const maxFrames = 50;
const maxCauses = 10;
const maxNameLength = 300;

/** The error within the limits of what is recorded: long messages, lists and names are cut. */
export function boundedError<One extends RaisedError>(error: One): One {
  const causes = error.causes
    .slice(0, maxCauses)
    .map((cause) => ({ ...bounded(cause), relation: cause.relation }));
  return { ...error, ...bounded(error), causes };
}

function bounded({ type, message, frames }: Exception): Exception {
  const half = maxFrames / 2;
  const some =
    frames.length <= maxFrames ? frames : [...frames.slice(0, half), ...frames.slice(-half)];
  return {
    type: cut(type),
    message: cutToBytes(storable(message), maxMessageBytes),
    frames: some.map((frame) => ({
      ...frame,
      file: storable(frame.file.slice(-maxNameLength)),
      function: cut(frame.function),
      code: cut(frame.code),
    })),
  };
}

function cut(text: string): string {
  return storable(text.slice(0, maxNameLength));
}

/** JSON in Postgres holds no NUL and no half characters. */
function storable(text: string): string {
  return text.toWellFormed().replaceAll('\0', '\uFFFD');
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

const sentences: Readonly<Record<Failure, string>> = {
  exit_code: 'The script exited with an error.',
  timeout: 'The run exceeded its time limit.',
  cpu_limit: 'The run exceeded its CPU limit.',
  memory_limit: 'The run exceeded its memory limit.',
  environment_error: "The script's environment could not be prepared.",
  sandbox_error: 'The sandbox could not execute the script.',
  runtime_lost: 'The runtime that executed the run was lost.',
  expired: 'The run did not start in time.',
};

/** The error of a run whose end no exception explains. */
export function platformError(failure: Failure, message = sentences[failure]): RunError {
  return boundedError({ type: failure, message, frames: [], causes: [], source: 'platform' });
}
