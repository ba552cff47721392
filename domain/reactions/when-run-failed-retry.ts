import { mustParse, parseRunId } from '#domain/kernel/ids.ts';
import type { RunFinished } from '#domain/run/events.ts';
import type { RetryPolicy } from '#domain/script/settings.ts';
import type { PastRun, Reaction, ReactionReads } from './reaction.ts';

/** Retries a failed run according to the script's retry policy (contract §3, "Run"). The retry is a new run of the
 *  same version after a delay. Stopped runs, expired runs and runs of an always-on script are not retried. When the
 *  new run is admitted, the platform checks that the script may still run. */
export const whenRunFailedRetry: Reaction = {
  name: 'when-run-failed-retry',
  handles: ['RunFinished'],
  react: async (event, reads, newId) => {
    if (event.type !== 'RunFinished') return [];
    const due = await retryAfter(event.data, reads);
    if (due === undefined) return [];
    const { runId, scriptId } = event.data;
    const { run, retry } = due;
    const { payloadSha256 } = run;
    const notBefore = event.recordedAt.getTime() + pauseMs(retry, run.attempt);
    return [
      {
        type: 'RunScript',
        runId: mustParse(parseRunId, newId('run')),
        scriptId,
        trigger: {
          type: 'retry',
          runId,
          ...(payloadSha256 !== undefined && { payloadSha256 }),
        },
        paramsSha256: run.paramsSha256,
        timeoutSeconds: null,
        whenBusy: 'queue',
        plan: run.plan,
        attempt: run.attempt + 1,
        parentRunId: runId,
        notBefore: new Date(notBefore).toISOString(),
      },
    ];
  },
};

/** Returns the failed run and its retry policy if the run must be retried, or else `undefined`. */
export async function retryAfter(
  { runId, scriptId, outcome }: RunFinished['data'],
  reads: Pick<ReactionReads, 'pastRun' | 'retryRules'>,
): Promise<{ readonly run: PastRun; readonly retry: RetryPolicy } | undefined> {
  if (!isFailure(outcome)) return undefined;
  const rules = await reads.retryRules(scriptId);
  if (rules === undefined || rules.keepAlive || rules.retry.max_attempts === 1) return undefined;
  const run = await reads.pastRun(runId);
  if (run === undefined || run.stopRequested) return undefined;
  return run.attempt >= rules.retry.max_attempts ? undefined : { run, retry: rules.retry };
}

function isFailure(outcome: RunFinished['data']['outcome']): boolean {
  return outcome !== 'success' && outcome !== 'stopped' && outcome !== 'expired';
}

/** The milliseconds between the end of a failed attempt and the start of the next attempt. */
function pauseMs(retry: RetryPolicy, attempt: number): number {
  const seconds = retry.backoff_seconds * retry.backoff_factor ** (attempt - 1);
  return Math.round(Math.min(seconds, retry.max_backoff_seconds) * 1000);
}
