import { known, parseRunId } from '#domain/kernel/ids.ts';
import type { RunFinished } from '#domain/run/events.ts';
import type { RetryPolicy } from '#domain/script/settings.ts';
import type { PastRun, Reaction, ReactionReads } from './reaction.ts';

/** A run that failed is tried again as the script's policy says (contract §3, "Run"): as a new run of
 *  the same version, after a pause. One that somebody stopped or that waited too long is not, nor is
 *  one of a script that is kept alive, which starts anew anyway. Whether the script may still run is
 *  for the admission to say. */
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
        runId: known(parseRunId, newId('run')),
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

/** The run that ended like that, and the policy, where it is to be tried again. */
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

/** From the end of the attempt that failed to the start of the next. */
function pauseMs(retry: RetryPolicy, attempt: number): number {
  const seconds = retry.backoff_seconds * retry.backoff_factor ** (attempt - 1);
  return Math.round(Math.min(seconds, retry.max_backoff_seconds) * 1000);
}
