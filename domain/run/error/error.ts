/** The error of a run, as data (contract part 2, "Failures"). */
import type { Failure } from '../run.ts';

/** One frame of a traceback. */
export interface Frame {
  /** For the script's own code: relative to the script's root. */
  readonly file: string;
  readonly line: number;
  readonly function: string;
  /** The source line without indentation; empty if the traceback omits it. */
  readonly code: string;
  /** Whether the frame is in the script's own code, not in a package or in Python. */
  readonly own: boolean;
}

/** An exception with its frames. */
export interface Exception {
  /** The qualified name of the exception's type, without `builtins.`. */
  readonly type: string;
  readonly message: string;
  /** The frames, outermost first. */
  readonly frames: readonly Frame[];
}

export const relations = ['cause', 'context', 'member'] as const;
/** How an exception relates to the previous one: `raise … from`, raised while handling it, or a member of a group. */
export type Relation = (typeof relations)[number];

export interface RelatedException extends Exception {
  readonly relation: Relation;
  /** 1 for a cause of the error itself, 2 for a cause of that cause or a member of that group, and so on. Absent in errors
   *  from before version 0.1.13. */
  readonly depth?: number | undefined;
  /** The number of exceptions that were omitted directly before this one. Absent if there are none. */
  readonly omitted?: number | undefined;
}

/** An exception with its causes. The nearest cause is first, followed by the causes of that cause. */
export interface RaisedError extends Exception {
  readonly causes: readonly RelatedException[];
}

export const errorSources = ['hook', 'log', 'platform'] as const;
/** The source of the error: the interpreter, the traceback in the log, or the platform. */
export type ErrorSource = (typeof errorSources)[number];

/** The part of an error that events keep permanently. The error itself contains text of the script, which can be
 *  purged. */
export interface ErrorFact {
  readonly type: string;
  readonly source: ErrorSource;
  /** SHA-256 of the error's fingerprint, lower-case hex. Equal for errors with the same cause. */
  readonly fingerprint: string;
  /** SHA-256 of the error as JSON, lower-case hex. */
  readonly sha256: string;
}

/** The error of a failed run. For limits and platform failures, the type is a `Failure`. */
export interface RunError extends RaisedError {
  readonly source: ErrorSource;
}

export const maxMessageBytes = 4 * 1024;
/** The end of a message that was truncated. */
export const truncationMark = '… (truncated)';
/** The maximum number of frames. A longer traceback loses frames in the middle: half of this number come from its start,
 *  half from its end. */
export const maxFrames = 50;
export const maxCauses = 10;
/** The number of kept causes at the end of the path to the last one, in addition to the start of the path. */
const maxPathEnd = 4;
const maxNameLength = 300;

/** Truncates long messages, lists and names to the recorded limits. */
export function boundedError<One extends RaisedError>(error: One): One {
  const causes = boundedCauses(error.causes).map((cause) => ({ ...cause, ...bounded(cause) }));
  return { ...error, ...bounded(error), causes };
}

/** Keeps the last cause, which is the root cause, the causes that it led to, and the causes nearest to the error. The
 *  interpreter's hook selects in the same way. */
function boundedCauses(all: readonly RelatedException[]): readonly RelatedException[] {
  if (all.length <= maxCauses) return all;
  const path = pathToLast(all);
  const kept = new Set([...path.slice(0, maxPathEnd), ...path.slice(-1)]);
  for (let index = 0; kept.size < maxCauses; index += 1) kept.add(index);
  let omitted = 0;
  return all.flatMap((cause, index) => {
    omitted += cause.omitted ?? 0;
    if (!kept.has(index)) {
      omitted += 1;
      return [];
    }
    const one = omitted === 0 ? cause : { ...cause, omitted };
    omitted = 0;
    return [one];
  });
}

/** The index of the last cause, then those of the exceptions that it led to. */
function pathToLast(all: readonly RelatedException[]): readonly number[] {
  let depth = Infinity;
  return all.reduceRight<number[]>((path, cause, index) => {
    const { depth: own = 1 } = cause;
    if (own >= depth) return path;
    depth = own;
    return [...path, index];
  }, []);
}

function bounded({ type, message, frames }: Exception): Exception {
  const half = maxFrames / 2;
  const some =
    frames.length <= maxFrames ? frames : [...frames.slice(0, half), ...frames.slice(-half)];
  return {
    type: frameText(type),
    message: truncated(storable(message)),
    frames: some.map((frame) => ({
      ...frame,
      file: storable(frame.file.slice(-maxNameLength)),
      function: frameText(frame.function),
      code: frameText(frame.code),
    })),
  };
}

/** The text of a frame or the name of a type, truncated to the recorded limit. */
export function frameText(text: string): string {
  return storable(text.slice(0, maxNameLength));
}

/** JSON in Postgres cannot contain NUL or lone surrogates. Characters that change the direction of text would make the
 *  displayed order misleading. */
function storable(text: string): string {
  return text.toWellFormed().replaceAll(/[\0\u202A-\u202E\u2066-\u2069]/g, '\uFFFD');
}

const encoder = new TextEncoder();

/** Truncates text to the maximum number of bytes in UTF-8, which include the mark. */
function truncated(text: string): string {
  // A UTF-16 code unit has at most three bytes in UTF-8.
  if (text.length * 3 <= maxMessageBytes) return text;
  const bytes = encoder.encode(text);
  if (bytes.length <= maxMessageBytes) return text;
  const kept = bytes.subarray(0, maxMessageBytes - encoder.encode(truncationMark).length);
  return `${new TextDecoder().decode(kept).replace(/\uFFFD$/u, '')}${truncationMark}`;
}

const maxHeadlineCharacters = 300;

/** Messages about an end without a known reason. */
const isBareEnd = /^The (?:script exited with|script was killed by|run ended)/;

/** The error in one line: the exception, such as `ValueError: no such row`, or the platform's reason, such as a
 *  package that does not exist. `undefined` if the platform knows no reason beyond the outcome. */
export function headlineOf({
  type,
  message,
  source,
}: Pick<RunError, 'type' | 'message' | 'source'>): string | undefined {
  const [first = ''] = message.split('\n');
  const exception = first === '' ? type : `${type}: ${first}`;
  const line = source === 'platform' ? reasonOf(type, message) : exception;
  return line?.slice(0, maxHeadlineCharacters).toWellFormed();
}

function reasonOf(type: string, message: string): string | undefined {
  const isKnown = message !== sentences[type as Failure] && !isBareEnd.test(message);
  return isKnown ? message.replaceAll(/\s+/g, ' ').trim() : undefined;
}

const sentences: Readonly<Record<Failure, string>> = {
  exit_code: 'The script exited with an error.',
  timeout: 'The run exceeded its time limit.',
  cpu_limit: 'The run exceeded its CPU limit.',
  memory_limit: 'The run exceeded its memory limit.',
  environment_error: "The script's environment could not be prepared.",
  sandbox_error: 'The sandbox could not execute the script.',
  runtime_lost: 'The runtime that executed the run was lost.',
  runtime_stopped: 'The runtime was shut down during the run.',
  expired: 'The run did not start in time.',
};

/** The error of a run that failed without an exception. */
export function platformError(failure: Failure, message = sentences[failure]): RunError {
  return boundedError({ type: failure, message, frames: [], causes: [], source: 'platform' });
}
