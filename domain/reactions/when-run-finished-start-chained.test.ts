import type { RunFinished } from '#domain/run/events.ts';
import { defaultLimits } from '#domain/script/settings.ts';
import { chainId, runId, scriptId } from '#domain/testing/ids.ts';
import { at, beginning, recordAll } from '#domain/testing/recorded.ts';
import { reactionReads } from '#domain/testing/reads.ts';
import { finishRun, runScript } from '#domain/testing/samples.ts';
import { describe, expect, test } from 'vitest';
import type { ChainAfter, ReactionReads } from './reaction.ts';
import { whenRunFinishedStartChained } from './when-run-finished-start-chained.ts';

const chain: ChainAfter = {
  chainId: chainId(),
  targetScriptId: scriptId(2),
  on: 'success',
  enabled: true,
  whenBusy: 'queue',
  paramsSha256: 'a'.repeat(64),
  activeSince: at(0),
};
const handedOver = 'b'.repeat(64);
const retry = { max_attempts: 2, backoff_seconds: 10, backoff_factor: 1, max_backoff_seconds: 10 };

/** Returns the commands that the end of a run causes. */
async function reactTo(
  outcome: RunFinished['data']['outcome'],
  chains: readonly Partial<ChainAfter>[] = [{}],
  known: Partial<ReactionReads> = {},
) {
  const start = { type: 'StartRun', runId: runId(), runtimeId: 'a', layers: [] } as const;
  const events = await recordAll([...beginning, runScript(), start, finishRun({ outcome })]);
  const reads = reactionReads({
    chainsAfter: () => Promise.resolve(chains.map((one) => ({ ...chain, ...one }))),
    retryRules: () => Promise.resolve(undefined),
    depthOf: () => Promise.resolve(0),
    triggersPaused: () => Promise.resolve(false),
    handOver: () => Promise.resolve(handedOver),
    ...known,
  });
  const ids = new Map([chainId(), chainId(2)].map((id, index) => [id as string, runId(index + 2)]));
  return await whenRunFinishedStartChained.react(
    events.at(-1)!,
    reads,
    (name) => ids.get(name.slice('run'.length)) ?? runId(9),
  );
}

const started = {
  type: 'RunScript',
  runId: runId(2),
  scriptId: scriptId(2),
  trigger: {
    type: 'event',
    cause: 'chain',
    chainId: chainId(),
    runId: runId(),
    depth: 1,
    payloadSha256: handedOver,
  },
  paramsSha256: chain.paramsSha256,
  timeoutSeconds: null,
  whenBusy: 'queue',
};

describe('a chain from the finished script', () => {
  test('starts a run of its target script after a successful run', async () => {
    expect(await reactTo('success')).toEqual([started]);
  });

  test.each([
    ['success', 'success', 1],
    ['success', 'exit_code', 0],
    ['success', 'stopped', 0],
    ['failed', 'timeout', 1],
    ['failed', 'success', 0],
    ['failed', 'stopped', 0],
    ['any', 'success', 1],
    ['any', 'expired', 1],
    ['any', 'stopped', 1],
  ] as const)(
    'with the condition "%s" and after the outcome %s, starts this number of runs: %i',
    async (on, end, count) => {
      expect(await reactTo(end, [{ on }])).toHaveLength(count);
    },
  );

  test('starts its own run even if other chains have the same source script', async () => {
    const commands = await reactTo('success', [{}, { chainId: chainId(2), whenBusy: 'refuse' }]);
    expect(commands).toMatchObject([
      { runId: runId(2), whenBusy: 'queue' },
      { runId: runId(3), whenBusy: 'refuse' },
    ]);
  });

  test('ignores runs that finished before the chain was created or enabled', async () => {
    expect(await reactTo('success', [{ activeSince: at(6) }])).toHaveLength(1);
    expect(await reactTo('success', [{ activeSince: at(7) }])).toEqual([]);
  });

  test('is triggered only by the last attempt of a retried run', async () => {
    const plan = { scriptVersion: 1, entrypoint: 'main.py', limits: defaultLimits };
    const past = { plan, paramsSha256: null, payloadSha256: undefined, stopRequested: false };
    const attempt = (number: number): Partial<ReactionReads> => ({
      retryRules: () => Promise.resolve({ retry, keepAlive: false }),
      pastRun: () => Promise.resolve({ ...past, attempt: number }),
    });
    expect(await reactTo('exit_code', [{ on: 'any' }], attempt(1))).toEqual([]);
    expect(await reactTo('exit_code', [{ on: 'any' }], attempt(2))).toHaveLength(1);
    expect(await reactTo('success', [{}], attempt(1))).toHaveLength(1);
  });

  test('requests a run that waits while triggers are paused', async () => {
    const triggersPaused = () => Promise.resolve(true);
    const notBefore = at(6).toISOString();
    expect(await reactTo('success', [{}], { triggersPaused })).toEqual([{ ...started, notBefore }]);
  });

  test('starts no run after sixteen chained runs, and records the reason', async () => {
    const deep = (depth: number) => ({ depthOf: () => Promise.resolve(depth) });
    expect(await reactTo('success', [{}], deep(15))).toMatchObject([{ trigger: { depth: 16 } }]);
    expect(await reactTo('success', [{}], deep(16))).toEqual([
      { type: 'SkipChain', chainId: chainId(), sourceRunId: runId(), reason: 'chain_too_long' },
    ]);
  });

  test('records the refusal of a run, unless it has already handled the source run', async () => {
    const [command] = await reactTo('success');
    const refused = (code: 'script_disabled' | 'already_exists') =>
      whenRunFinishedStartChained.onRefusal?.(command!, code);
    expect(refused('script_disabled')).toEqual({
      type: 'SkipChain',
      chainId: chainId(),
      sourceRunId: runId(),
      reason: 'script_disabled',
    });
    expect(refused('already_exists')).toBeUndefined();
  });
});
