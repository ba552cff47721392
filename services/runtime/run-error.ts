/** Derives a run's error from its log and its process's exit. */
import {
  boundedError,
  platformError,
  type Exception,
  type RaisedError,
  type RunError,
} from '#domain/run/error/error.ts';
import { endOfRecord } from '#domain/run/error/plain-log.ts';
import {
  endsMessage,
  isLogged,
  parseFatalError,
  parseTimeout,
  parseTraceback,
  related,
} from '#domain/run/error/traceback.ts';
import { levelOfRecord } from '#domain/run/log-level.ts';
import type { Ending } from './outcome.ts';
import { locatedError, type ReportedError } from './reported-errors.ts';

export interface FailureFacts {
  readonly ending: Ending;
  /** The platform's message about the exit in the run's log. */
  readonly note: string | undefined;
  /** The end of the run's stderr, as rewritten by `plainLog`. */
  readonly errorText: string;
  /** The end of the run's stdout, as rewritten by `plainLog`. */
  readonly outputText?: string;
  /** The exception that the script itself reported. */
  readonly reported?: ReportedError | undefined;
  /** The folder of the script's files inside the sandbox, or `undefined` if there was no process. */
  readonly workspace: string | undefined;
}

/** Returns the run's error, or `undefined` if the run did not fail. */
export function runErrorOf(facts: FailureFacts): RunError | undefined {
  const { ending, note } = facts;
  const { outcome } = ending;
  if (outcome === 'success' || outcome === 'stopped') return undefined;
  const isEnd = outcome === 'exit_code' && facts.reported === undefined;
  const fatal = isEnd ? fatalError(facts) : undefined;
  if (fatal !== undefined) return boundedError(fatal);
  const raised = raisedError(facts);
  if (outcome === 'exit_code' && raised) return boundedError(withLimit(raised, note));
  const error = platformError(outcome, note ?? endOf(ending));
  // Keeps the exception, because it shows where the memory limit was reached.
  const isOfMemory = raised?.type.endsWith('MemoryError') || (raised && isAfterMemoryError(raised));
  const isShown = outcome === 'memory_limit' && isOfMemory;
  return isShown ? boundedError<RunError>({ ...error, frames: raised?.frames ?? [] }) : error;
}

/** Adds the reached limit, such as the process limit, to the first line of the message. The exception itself does
 *  not name the limit. */
function withLimit<One extends RaisedError>(error: One, note: string | undefined): One {
  const [first = '', ...rest] = error.message.split('\n');
  const isOfLimit = isRefused.test(first) || (isAgain.test(first) && startsProcess(error));
  const said = isOfLimit ? note?.split(':')[0] : isAfterMemoryError(error) ? noMemory : undefined;
  const limit = isFull.test(first) ? full : isTooLarge.test(first) ? tooLarge : said;
  return limit === undefined
    ? error
    : { ...error, message: [`${first} (${limit})`, ...rest].join('\n') };
}

const isFull = /^\[Errno (?:28|122)\]/;
const full = 'the disk of the runtime, its quota, or `/dev/shm` of the run is full';
/** Whether the script raised this exception while it handled a `MemoryError`. */
function isAfterMemoryError({ type, causes }: RaisedError): boolean {
  return type !== 'SystemExit' && causes.some((cause) => cause.type === 'MemoryError');
}

const noMemory = 'after a MemoryError';
/** The disk limit also limits the size of each file. */
const isTooLarge = /^\[Errno 27\]/;
const tooLarge = 'a file would exceed the disk limit of the run';
/** Matches errors for insufficient memory, too many open files, and a thread that could not be started. */
const isRefused = /^\[Errno (?:12|24)\]|^can't start new thread/;
/** Matches EAGAIN, which means that a process could not be started, or that a non-blocking socket was not ready. */
const isAgain = /^\[Errno 11\]/;

function startsProcess({ frames }: RaisedError): boolean {
  return /fork|spawn/.test(frames.at(-1)?.code ?? '');
}

/** Returns the exception that ended the script, as reported by its interpreter, or else from the log. */
function raisedError(facts: FailureFacts): RunError | undefined {
  const { ending, errorText, reported, workspace: root } = facts;
  if (root === undefined) return undefined;
  if (reported !== undefined) {
    const error = locatedError(reported, { root });
    const isExit = reported.exitCode !== undefined;
    return { ...(isExit ? reportedExit(error, facts, root) : error), source: 'hook' };
  }
  const raised = parseTraceback(errorText, { root });
  if (ending.outcome === 'memory_limit') return raised && { ...raised, source: 'log' };
  return ending.exitCode === null ? undefined : loggedError(raised, facts, root);
}

/** Returns the error of a script that called `sys.exit`. The log may contain the reason, for example in a log
 *  record, or in the traceback of a thread or another process. */
function reportedExit(error: RaisedError, facts: FailureFacts, root: string): RaisedError {
  const { message } = error;
  const hasText = !isExitCode.test(message);
  // The interpreter writes the exit text to stderr.
  const errorText = hasText ? withoutEnd(facts.errorText, message) : facts.errorText;
  const raised = parseTraceback(errorText, { root }) ?? printedError(facts, root);
  const causes = error.causes.length === 0 && raised ? related(raised, 'context') : error.causes;
  const said = hasText ? undefined : (lastRecord(facts, saysError) ?? summaryOf(causes[0]));
  return { ...error, causes, message: said === undefined ? message : `${message}: ${said}` };
}

/** Returns the error of a script whose interpreter reported no exception. The script used `raise SystemExit`, or
 *  another program replaced the process.
 *  @param raised the last exception on stderr */
function loggedError(
  raised: RaisedError | undefined,
  facts: FailureFacts,
  root: string,
): RunError | undefined {
  const { ending, errorText } = facts;
  // The interpreter exits with code 1 if `SystemExit` has a text.
  const text = ending.exitCode === 1 ? textOfExit(errorText, raised) : undefined;
  if (raised !== undefined && text === undefined && !isLogged(errorText)) {
    return { ...raised, source: 'log' };
  }
  const before = text === undefined ? errorText : withoutEnd(errorText, text);
  const cause = parseTraceback(before, { root }) ?? printedError(facts, root);
  const said = cause ? undefined : lastRecord(facts, isErrorRecord);
  if (text === undefined && cause === undefined && said === undefined) return undefined;
  const code = `exit code ${ending.exitCode}`;
  const message = text ?? (said === undefined ? code : `${code}: ${said}`);
  const causes = cause ? related(cause, 'context') : [];
  return { type: 'SystemExit', message, frames: [], causes, source: 'log' };
}

/** Returns the last exception on stdout. The script must have handled it, because the interpreter writes unhandled
 *  exceptions to stderr. */
function printedError({ outputText = '' }: FailureFacts, root: string): RaisedError | undefined {
  return parseTraceback(outputText, { root });
}

/** Returns the text of a `SystemExit`, which the interpreter writes to stderr. The text is the last line, unless that
 *  line belongs to a log record. After a traceback, the text must be the second and last line of the message, because a
 *  longer message belongs to the exception.
 *  @param raised the last exception on stderr */
function textOfExit(errorText: string, raised: RaisedError | undefined): string | undefined {
  const [before = '', last = ''] = errorText.trimEnd().split('\n').slice(-2);
  const text = last === '' ? before : last;
  if (text.trim() === '' || endsMessage(text) || text.startsWith('{')) return undefined;
  if (raised === undefined || before === endOfRecord) return text.trim();
  const [, second, ...more] = raised.message.split('\n');
  return second === text && more.length === 0 && !/^\s/.test(text) ? text : undefined;
}

function withoutEnd(text: string, end: string): string {
  const whole = text.trimEnd();
  return whole.endsWith(end) ? whole.slice(0, -end.length) : whole;
}

/** Returns the last line near the end of stderr that describes an error, or else the last such log record near the end
 *  of stdout.
 *  @param namesError selects the lines of stderr */
function lastRecord(
  { errorText, outputText = '' }: FailureFacts,
  namesError: (line: string) => boolean,
): string | undefined {
  const lineIn = (text: string, isWanted: (line: string) => boolean) =>
    text.trimEnd().split('\n').slice(-maxLastLines).findLast(isWanted);
  const line = lineIn(errorText, namesError) ?? lineIn(outputText, isErrorRecord);
  // Collapses spaces, because log records in columns are padded.
  return line?.trim().replaceAll(/ {2,}/g, ' ');
}

/** The number of lines at the end of the log that are searched for a log record. */
const maxLastLines = 40;

/** Whether the line is an error message, for example from a command-line parser or a logger. */
function saysError(line: string): boolean {
  return !line.startsWith('{') && /^(?! {2}).*\b(?:error|fatal|critical)\b(?!\()/i.test(line);
}

function isErrorRecord(line: string): boolean {
  const level = levelOfRecord(line);
  return level === 'error' || level === 'critical';
}

const isExitCode = /^exit code \d+$/;

function summaryOf(error: Exception | undefined): string | undefined {
  if (error === undefined) return undefined;
  const [text = ''] = error.message.split('\n');
  return text === '' ? error.type : `${error.type}: ${text}`;
}

/** Returns the error that crashed the interpreter, with the frames that `faulthandler` wrote. */
function fatalError({ ending, errorText, workspace: root }: FailureFacts): RunError | undefined {
  if (root === undefined) return undefined;
  const parse = ending.signal === null ? parseTimeout : parseFatalError;
  const fatal = parse(errorText, { root });
  if (fatal === undefined) return undefined;
  const message = `${endOf(ending)} ${fatal.type}: ${fatal.message}`;
  return { ...platformError('exit_code', message), frames: fatal.frames };
}

function endOf({ exitCode, signal }: Ending): string {
  if (signal !== null) return `The script was killed by ${signal}.`;
  return exitCode === null ? 'The run ended.' : `The script exited with exit code ${exitCode}.`;
}
