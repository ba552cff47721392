/** The error of a run, derived from the end of its process and its log. */
import {
  boundedError,
  platformError,
  type RaisedError,
  type RunError,
} from '#domain/run/error/error.ts';
import { isLogged, parseFatalError, parseTraceback, related } from '#domain/run/error/traceback.ts';
import { levelOf } from '#domain/run/log-level.ts';
import type { Ending } from './outcome.ts';
import { locatedError, type ReportedError } from './reported-errors.ts';

export interface FailureFacts {
  readonly ending: Ending;
  /** The platform's remark about the end in the log. */
  readonly note: string | undefined;
  /** The end of the run's stderr. */
  readonly errorText: string;
  /** The exception that the script itself reported. */
  readonly reported?: ReportedError | undefined;
  /** The folder of the script's files as its process sees it; `undefined` without a process. */
  readonly workspace: string | undefined;
}

/** @returns `undefined` for a run that did not fail */
export function runErrorOf(facts: FailureFacts): RunError | undefined {
  const { ending, note } = facts;
  const { outcome } = ending;
  if (outcome === 'success' || outcome === 'stopped') return undefined;
  const raised = raisedError(facts);
  if (outcome === 'exit_code' && raised) return boundedError(withLimit(raised, note));
  const fatal = outcome === 'exit_code' ? fatalError(facts) : undefined;
  if (fatal !== undefined) return boundedError(fatal);
  const error = platformError(outcome, note ?? endOf(ending));
  // Keeps the exception, because it shows where the memory limit was reached.
  const isOfMemory = raised?.type.endsWith('MemoryError') || (raised && isAfterMemoryError(raised));
  const isShown = outcome === 'memory_limit' && isOfMemory;
  return isShown ? boundedError<RunError>({ ...error, frames: raised?.frames ?? [] }) : error;
}

/** Adds the limit that the exception only describes, such as that of processes, to the first line of its message. */
function withLimit<One extends RaisedError>(error: One, note: string | undefined): One {
  const [first = '', ...rest] = error.message.split('\n');
  const isOfLimit = isRefused.test(first) || (isAgain.test(first) && startsProcess(error));
  const said = isOfLimit ? note?.split(':')[0] : isAfterMemoryError(error) ? noMemory : undefined;
  const limit = isFull.test(first) ? full : said;
  return limit === undefined
    ? error
    : { ...error, message: [`${first} (${limit})`, ...rest].join('\n') };
}

const isFull = /^\[Errno (?:28|122)\]/;
const full = 'the disk of the runtime, its quota, or `/dev/shm` of the run is full';
/** Whether the script raised the exception after a `MemoryError`. */
function isAfterMemoryError({ type, causes }: RaisedError): boolean {
  return type !== 'SystemExit' && causes.some((cause) => cause.type === 'MemoryError');
}

const noMemory = 'after a MemoryError';
/** Memory, too many open files, a file that is too large, or a refused thread. */
const isRefused = /^\[Errno (?:12|24|27)\]|^can't start new thread/;
/** A refused process, or a socket that does not block. */
const isAgain = /^\[Errno 11\]/;

function startsProcess({ frames }: RaisedError): boolean {
  return /fork|spawn/.test(frames.at(-1)?.code ?? '');
}

/** The exception that ended the script: as reported by its interpreter, or else from the log. */
function raisedError({
  ending,
  errorText,
  reported,
  workspace: root,
}: FailureFacts): RunError | undefined {
  if (root === undefined) return undefined;
  if (reported !== undefined) {
    const error = locatedError(reported, { root });
    const said = reported.exitCode === undefined ? undefined : reasonOfExit(error, errorText, root);
    const message = said === undefined ? error.message : `${error.message}: ${said}`;
    return { ...error, message, source: 'hook' };
  }
  // The interpreter ends with exit code 1 after an uncaught exception. After other ends, a traceback in the log belongs
  // to an exception that the script has handled.
  if (ending.exitCode !== 1 && ending.outcome !== 'memory_limit') return undefined;
  const raised = parseTraceback(errorText, { root });
  if (raised !== undefined && ending.outcome === 'exit_code' && isLogged(errorText)) {
    // The interpreter reports uncaught exceptions, but no `raise SystemExit(1)`.
    const exit = { type: 'SystemExit', message: 'exit code 1', frames: [] };
    return { ...exit, causes: related(raised, 'context'), source: 'log' };
  }
  if (raised !== undefined) return { ...raised, source: 'log' };
  // The interpreter writes the text of a `SystemExit` to stderr. A record of a log is not such a text.
  const message = lastLine(errorText);
  if (message === undefined || levelOf(message, null) !== null) return undefined;
  return { type: 'SystemExit', message, frames: [], causes: [], source: 'log' };
}

/** The error that ended the interpreter itself, with the calls that `faulthandler` has written. */
function fatalError({ ending, errorText, workspace: root }: FailureFacts): RunError | undefined {
  if (root === undefined || ending.signal === null) return undefined;
  const fatal = parseFatalError(errorText, { root });
  if (fatal === undefined) return undefined;
  const message = `${endOf(ending)} ${fatal.type}: ${fatal.message}`;
  return { ...platformError('exit_code', message), frames: fatal.frames };
}

/** Why a script called `sys.exit` with a number: the error message with which it ended, the exception that it was
 *  handling, or the last exception in the log, for example of a thread or of another process. */
function reasonOfExit(
  { message, causes }: RaisedError,
  errorText: string,
  root: string,
): string | undefined {
  // If `sys.exit` was called with a text, that text is the reason.
  if (!isExitCode.test(message)) return undefined;
  const end = errorText.trimEnd().split('\n').slice(-maxLastLines);
  const said = end.findLast((line) => saysError.test(line))?.trim();
  if (said !== undefined) return said;
  const reason = causes[0] ?? parseTraceback(end.join('\n'), { root });
  if (reason === undefined) return undefined;
  const [text = ''] = reason.message.split('\n');
  return text === '' ? reason.type : `${reason.type}: ${text}`;
}

/** Only the end of the log is searched for a reason. */
const maxLastLines = 40;
/** The error message of a command line parser or a logger, for example. */
const saysError = /^(?! {2}).*\b(?:error|fatal|critical)\b(?!\()/i;
const isExitCode = /^exit code \d+$/;

function lastLine(text: string): string | undefined {
  return text.trimEnd().split('\n').at(-1)?.trim() || undefined;
}

function endOf({ exitCode, signal }: Ending): string {
  if (signal !== null) return `The script was killed by ${signal}.`;
  return exitCode === null ? 'The run ended.' : `The script exited with exit code ${exitCode}.`;
}
