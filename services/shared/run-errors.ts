/** Prepares run errors for storage. The details are stored separately, and the event contains only a summary. */
import { hash } from 'node:crypto';
import type { ScriptId } from '#domain/kernel/ids.ts';
import type { ErrorFact, RunError } from '#domain/run/error/error.ts';
import { fingerprintOf } from '#domain/run/error/fingerprint.ts';

/** An error in two parts: the details to store, and the summary for the command that records the run's outcome. */
export interface KeptError {
  /** The encoded `RunError`, in JSON. */
  readonly content: Uint8Array;
  readonly fact: ErrorFact;
}

export function keptError(error: RunError, scriptId: ScriptId): KeptError {
  const content = Buffer.from(JSON.stringify(error));
  const { type, source } = error;
  return {
    content,
    fact: {
      type,
      source,
      fingerprint: hash('sha256', fingerprintOf(error, scriptId)),
      sha256: hash('sha256', content),
    },
  };
}
