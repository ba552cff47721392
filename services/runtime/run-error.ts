/** The error of a run, derived from the end of its process and its log. */
import { createHash } from 'node:crypto';
import {
  boundedError,
  platformError,
  type ErrorFact,
  type RunError,
} from '#domain/run/error/error.ts';
import { fingerprintOf } from '#domain/run/error/fingerprint.ts';
import { parseTraceback } from '#domain/run/error/traceback.ts';
import type { Ending } from './outcome.ts';

export interface FailureFacts {
  readonly ending: Ending;
  /** The platform's remark about the end in the log. */
  readonly note: string | undefined;
  /** The end of the run's stderr. */
  readonly errorText: string;
  /** The folder of the script's files as its process sees it; `undefined` without a process. */
  readonly workspace: string | undefined;
}

/** @returns `undefined` for a run that did not fail */
export function runErrorOf(facts: FailureFacts): RunError | undefined {
  const { ending, note, errorText, workspace } = facts;
  const { outcome } = ending;
  if (outcome === 'success' || outcome === 'stopped') return undefined;
  const raised = workspace && parseTraceback(errorText, { root: workspace });
  if (outcome === 'exit_code' && raised)
    return boundedError<RunError>({ ...raised, source: 'log' });
  const error = platformError(outcome, note ?? endOf(ending));
  // The exception shows where the memory limit was reached.
  const isShown = outcome === 'memory_limit' && raised && raised.type.endsWith('MemoryError');
  return isShown ? boundedError<RunError>({ ...error, frames: raised.frames }) : error;
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

export function keptError(error: RunError): KeptError {
  const json = JSON.stringify(error);
  const { type, source } = error;
  return {
    json,
    fact: { type, source, fingerprint: sha256(fingerprintOf(error)), sha256: sha256(json) },
  };
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
