/** The error of a run, derived from the end of its process and its log. */
import { createHash } from 'node:crypto';
import type { ScriptId } from '#domain/kernel/ids.ts';
import {
  boundedError,
  platformError,
  type ErrorFact,
  type RaisedError,
  type RunError,
} from '#domain/run/error/error.ts';
import { fingerprintOf } from '#domain/run/error/fingerprint.ts';
import { parseTraceback } from '#domain/run/error/traceback.ts';
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
  // The exception shows where the memory limit was reached.
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
    const said = reported.exitCode === undefined ? undefined : reasonOfExit(error, errorText);
    const message = said === undefined ? error.message : `${error.message}: ${said}`;
    // `sys.exit(text)` has written the text itself.
    return { ...error, message: said === error.message ? said : message, source: 'hook' };
  }
  const raised = parseTraceback(errorText, { root });
  if (raised !== undefined) return { ...raised, source: 'log' };
  // The interpreter writes the text of a `SystemExit` to stderr, and ends with exit code 1.
  const message = ending.exitCode === 1 ? lastLine(errorText) : undefined;
  if (message === undefined) return undefined;
  return { type: 'SystemExit', message, frames: [], causes: [], source: 'log' };
}

/** Why a script called `sys.exit`: the error message with which it ended, or the exception that it was handling. */
function reasonOfExit({ message, causes }: RaisedError, errorText: string): string | undefined {
  const said = saidError(errorText);
  const [handled] = causes;
  // A text given to `sys.exit` is the reason already.
  if (said !== undefined || handled === undefined || !isExitCode.test(message)) return said;
  return handled.message === '' ? handled.type : `${handled.type}: ${handled.message}`;
}

const isExitCode = /^exit code \d+$/;

/** The error message with which a script ends, such as that of a command line parser. */
function saidError(errorText: string): string | undefined {
  const line = lastLine(errorText);
  return line !== undefined && /\b(?:error|fatal|critical)\b/i.test(line) ? line : undefined;
}

function lastLine(text: string): string | undefined {
  return text.trimEnd().split('\n').at(-1)?.trim() || undefined;
}

function endOf({ exitCode, signal }: Ending): string {
  if (signal !== null) return `The script was killed by ${signal}.`;
  return exitCode === null ? 'The run ended.' : `The script exited with exit code ${exitCode}.`;
}

/** The error to store, and its summary in the history. */
export interface KeptError {
  readonly json: string;
  readonly fact: ErrorFact;
}

export function keptError(error: RunError, scriptId: ScriptId): KeptError {
  const json = JSON.stringify(error);
  const { type, source } = error;
  return {
    json,
    fact: {
      type,
      source,
      fingerprint: sha256(fingerprintOf(error, scriptId)),
      sha256: sha256(json),
    },
  };
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
