/** Stores the errors of runs. The details are stored separately; the history contains only a summary. */
import { createHash } from 'node:crypto';
import type { RunId, ScriptId } from '#domain/kernel/ids.ts';
import type { ErrorFact, RunError } from '#domain/run/error/error.ts';
import { fingerprintOf } from '#domain/run/error/fingerprint.ts';
import type { Queryable } from '#infra/postgres/database.ts';
import { saveErrors } from '#infra/postgres/logs/run-reports.ts';

/** An error: the details to store, and the summary for the history. */
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

/** Stores the error of a run that ends without a runtime. Call it before recording the event that refers to the
 *  error.
 *  @param run `fence` is the fence of its start; null before the start */
export async function keepError(
  db: Queryable,
  run: { readonly runId: RunId; readonly scriptId: ScriptId; readonly fence: number | null },
  error: RunError,
): Promise<ErrorFact> {
  const { json, fact } = keptError(error, run.scriptId);
  await saveErrors(db, [{ runId: run.runId, json, fence: run.fence }]);
  return fact;
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
