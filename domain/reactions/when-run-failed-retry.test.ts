import type { RunFinished } from '#domain/run/events.ts';
import { failures } from '#domain/run/run.ts';
import { defaultLimits, defaultRetry } from '#domain/script/settings.ts';
import { runId, scriptId } from '#domain/testing/ids.ts';
import { at, beginning, recordAll } from '#domain/testing/recorded.ts';
import { reactionReads } from '#domain/testing/reads.ts';
import { finishRun, runScript } from '#domain/testing/samples.ts';
import { describe, expect, test } from 'vitest';
import type { PastRun, RetryRules } from './reaction.ts';
import { whenRunFailedRetry } from './when-run-failed-retry.ts';

const plan = { scriptVersion: 3, entrypoint: 'old.py', limits: defaultLimits };
const past: PastRun = {
  plan,
  paramsSha256: 'a'.repeat(64),
  payloadSha256: 'b'.repeat(64),
  attempt: 1,
  stopRequested: false,
};
const retry = { max_attempts: 4, backoff_seconds: 10, backoff_factor: 3, max_backoff_seconds: 60 };

/** Returns the commands that the end of a run causes. */
async function reactTo(
  outcome: RunFinished['data']['outcome'],
  run: Partial<PastRun> = {},
  rules: Partial<RetryRules> | undefined = {},
) {
  const start = { type: 'StartRun', runId: runId(), runtimeId: 'a', layers: [] } as const;
  const events = await recordAll([...beginning, runScript(), start, finishRun({ outcome })]);
  const reads = reactionReads({
    pastRun: () => Promise.resolve({ ...past, ...run }),
    retryRules: () => Promise.resolve(rules && { retry, keepAlive: false, ...rules }),
  });
  return await whenRunFailedRetry.react(events.at(-1)!, reads, () => runId(2));
}

describe('a script with four attempts', () => {
  test('retries a failed run with the same parameters after a delay', async () => {
    expect(await reactTo('exit_code')).toEqual([
      {
        type: 'RunScript',
        runId: runId(2),
        scriptId: scriptId(),
        trigger: { type: 'retry', runId: runId(), payloadSha256: past.payloadSha256 },
        paramsSha256: past.paramsSha256,
        timeoutSeconds: null,
        whenBusy: 'queue',
        plan,
        attempt: 2,
        parentRunId: runId(),
        notBefore: at(6 + 10).toISOString(),
      },
    ]);
  });

  test.each([
    [1, 10],
    [2, 30],
    [3, 60],
  ])('waits after attempt %i for %i seconds', async (attempt, seconds) => {
    const notBefore = at(6 + seconds).toISOString();
    expect(await reactTo('timeout', { attempt })).toMatchObject([
      { attempt: attempt + 1, notBefore },
    ]);
  });

  test('does not retry after the last attempt', async () => {
    expect(await reactTo('exit_code', { attempt: 4 })).toEqual([]);
  });

  test.each(failures.filter((one) => one !== 'expired'))(
    'retries a run with the outcome %s',
    async (failure) => {
      expect(await reactTo(failure)).toHaveLength(1);
    },
  );

  test.each(['success', 'stopped', 'expired'] as const)(
    'does not retry a run with the outcome %s',
    async (outcome) => {
      expect(await reactTo(outcome)).toEqual([]);
    },
  );

  test('does not retry after a stop request', async () => {
    expect(await reactTo('runtime_lost', { stopRequested: true })).toEqual([]);
  });
});

test('a failed run is not retried if its script has no retry policy or is always on', async () => {
  expect(await reactTo('exit_code', {}, { retry: defaultRetry })).toEqual([]);
  expect(await reactTo('exit_code', {}, { keepAlive: true })).toEqual([]);
});
