/** The structured error of a run (contract part 2, "Failures"). */
import type { Failure } from '../run.ts';

/** One stack frame of a traceback. */
export interface Frame {
  /** The file path. For the script's own code, the path is relative to the script's root folder. */
  readonly file: string;
  readonly line: number;
  readonly function: string;
  /** The source line without indentation. Empty if the traceback omits the line. */
  readonly code: string;
  /** Whether the frame is in the script's own code rather than in a package or the standard library. */
  readonly own: boolean;
}

/** An exception with its stack frames. */
export interface Exception {
  /** The qualified name of the exception type, without the prefix `builtins.`. */
  readonly type: string;
  readonly message: string;
  /** The stack frames, outermost first. */
  readonly frames: readonly Frame[];
}

export const relations = ['cause', 'context', 'member'] as const;
/** How an exception relates to the previous exception in the list. It is either the cause (`raise … from`), the
 *  context, or a member of the group. */
export type Relation = (typeof relations)[number];

export interface RelatedException extends Exception {
  readonly relation: Relation;
  /** 1 for a direct cause of the error, 2 for a cause of that cause, and so on. Members of exception groups count
   *  like causes. Absent in errors from versions before 0.1.13. */
  readonly depth?: number | undefined;
  /** The number of exceptions that were omitted directly before this exception. Absent if none were omitted. */
  readonly omitted?: number | undefined;
}

/** An exception and its causes. Each cause is followed by its own causes. */
export interface RaisedError extends Exception {
  readonly causes: readonly RelatedException[];
}

export const errorSources = ['hook', 'log', 'platform'] as const;
/** What reported the error: the interpreter, the traceback in the log, or the platform. */
export type ErrorSource = (typeof errorSources)[number];

/** The part of an error that events contain permanently. The complete error contains text from the script and can be
 *  purged. */
export interface ErrorFact {
  readonly type: string;
  readonly source: ErrorSource;
  /** SHA-256 of the error's fingerprint, in lower-case hex. Errors with the same cause have the same value. */
  readonly fingerprint: string;
  /** SHA-256 of the error as JSON, in lower-case hex. */
  readonly sha256: string;
}

/** The error of a failed run. If a limit or the platform ended the run, the type is a `Failure`. */
export interface RunError extends RaisedError {
  readonly source: ErrorSource;
}

export const maxMessageBytes = 4 * 1024;
/** Marks the end of a truncated message. */
export const truncationMark = '… (truncated)';
/** The maximum number of frames. A longer traceback is reduced to its first and its last frames, half of this
 *  number each. */
export const maxFrames = 50;
export const maxCauses = 10;
/** The number of causes that are recorded from the end of the path to the root cause, including the root cause itself.
 *  The first cause of the path is also recorded. */
const maxPathEnd = 4;
const maxNameLength = 300;

/** Truncates long messages, lists and names to the limits for recorded errors. */
export function boundedError<One extends RaisedError>(error: One): One {
  const causes = boundedCauses(error.causes).map((cause) => ({ ...cause, ...bounded(cause) }));
  return { ...error, ...bounded(error), causes };
}

/** Keeps the root cause, the causes that it led to, and the causes nearest to the error. The root cause is the last
 *  cause. The interpreter's hook selects the same causes. */
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

/** Returns the index of the last cause, followed by the indexes of the exceptions that it led to. */
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

/** Truncates the text of a frame or the name of a type to its maximum length. */
export function frameText(text: string): string {
  return storable(text.slice(0, maxNameLength));
}

/** Postgres cannot store NUL or lone surrogates in JSON. Characters that change the text direction would make the
 *  displayed text misleading. */
function storable(text: string): string {
  return text.toWellFormed().replaceAll(/[\0\u202A-\u202E\u2066-\u2069]/g, '\uFFFD');
}

const encoder = new TextEncoder();

/** Truncates text to the maximum number of UTF-8 bytes, including `truncationMark`. */
function truncated(text: string): string {
  // A UTF-16 code unit takes at most three bytes in UTF-8.
  if (text.length * 3 <= maxMessageBytes) return text;
  const bytes = encoder.encode(text);
  if (bytes.length <= maxMessageBytes) return text;
  const kept = bytes.subarray(0, maxMessageBytes - encoder.encode(truncationMark).length);
  return `${new TextDecoder().decode(kept).replace(/\uFFFD$/u, '')}${truncationMark}`;
}

const maxHeadlineCharacters = 300;

/** Matches messages that give no reason for the end of the run. */
const isBareEnd = /^The (?:script exited with|script was killed by|run ended)/;

/** Describes the error in one line. The line contains either the exception, such as `ValueError: no such row`, or
 *  the platform's reason, such as a missing package. Returns `undefined` if no reason is known. */
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

/** Creates the error for a run that failed without an exception. */
export function platformError(failure: Failure, message = sentences[failure]): RunError {
  return boundedError({ type: failure, message, frames: [], causes: [], source: 'platform' });
}
