/** The error of a run, derived from the end of its process and its log. */
import {
  boundedError,
  platformError,
  type RaisedError,
  type RunError,
} from '#domain/run/error/error.ts';
import { parseTraceback } from '#domain/run/error/traceback.ts';
import { levelOf } from '#services/shared/log-level.ts';
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
  if (outcome === 'exit_code' && raised) return boundedError(raised);
  const error = platformError(outcome, note ?? endOf(ending));
  // Keeps the exception, because it shows where the memory limit was reached.
  const isShown = outcome === 'memory_limit' && raised?.type.endsWith('MemoryError');
  return isShown ? boundedError<RunError>({ ...error, frames: raised?.frames ?? [] }) : error;
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
    // `sys.exit(text)` has written the text itself.
    return { ...error, message: said === error.message ? said : message, source: 'hook' };
  }
  // The interpreter ends with exit code 1 after an uncaught exception. After other ends, a traceback in the log belongs
  // to an exception that the script has handled.
  if (ending.exitCode !== 1 && ending.outcome !== 'memory_limit') return undefined;
  const raised = parseTraceback(errorText, { root });
  if (raised !== undefined) return { ...raised, source: 'log' };
  // The interpreter writes the text of a `SystemExit` to stderr. A record of a log is not such a text.
  const message = lastLine(errorText);
  if (message === undefined || levelOf(message, null) !== null) return undefined;
  return { type: 'SystemExit', message, frames: [], causes: [], source: 'log' };
}

/** Why a script called `sys.exit`: the error message with which it ended, the exception that it was handling, or the last
 *  exception in the log, for example of a thread or of another process. */
function reasonOfExit(
  { message, causes }: RaisedError,
  errorText: string,
  root: string,
): string | undefined {
  const end = errorText.trimEnd().split('\n').slice(-maxLastLines);
  const said = end.findLast((line) => saysError.test(line))?.trim();
  // If `sys.exit` was called with a text, that text is the reason.
  if (said !== undefined || !isExitCode.test(message)) return said;
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
