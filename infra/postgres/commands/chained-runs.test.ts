import type { Command } from '#domain/aggregates.ts';
import { whenRunFinishedStartChained } from '#domain/reactions/when-run-finished-start-chained.ts';
import { chainId, runId, scriptId } from '#domain/testing/ids.ts';
import {
  createChain,
  createGroup,
  createScript,
  finishRun,
  runScript,
} from '#domain/testing/samples.ts';
import { splitWebhookPayload } from '#domain/webhook/payload.ts';
import { systemIds } from '#infra/system/ids.ts';
import {
  answersOf,
  eventsVisible,
  openTestPlatform,
  userContext,
  streamOf,
  type TestPlatform,
} from '#infra/testing/platform.ts';
import { reactionReads } from '#projections/reaction-reads.ts';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { storeChainedInput } from '../event-store/chained-input.ts';
import { getPayload } from '../event-store/payloads.ts';
import { saveOutput } from '../logs/run-reports.ts';
import { Reactor } from '../readers/reactor.ts';

const { signal } = new AbortController();

let platform: TestPlatform;
beforeEach(async () => {
  platform = await openTestPlatform();
  await ask(createGroup());
  for (const number of [1, 2, 3]) {
    await ask(createScript({ scriptId: scriptId(number), name: `Script ${number}` }));
  }
});
afterEach(() => platform.close());

async function ask(...commands: readonly Command[]): Promise<void> {
  for (const command of commands) await platform.accepted(command);
}

async function react(): Promise<number> {
  await eventsVisible(platform.pool);
  const { pool, commands, reads } = platform;
  const reactor = new Reactor({
    pool,
    commands,
    ids: systemIds,
    reads: reactionReads(reads, (id) => storeChainedInput(pool, id)),
    reactions: [whenRunFinishedStartChained],
  });
  return await reactor.runOnce(signal);
}

/** Reacts again, like a scheduler that crashed before saving its checkpoint. */
async function reactAgain(): Promise<void> {
  await platform.pool.query('DELETE FROM checkpoints');
  await react();
}

async function sourceEnds(number = 1): Promise<void> {
  const id = { runId: runId(number) };
  await ask(runScript(id), { type: 'StartRun', ...id, runtimeId: 'a', layers: [] });
  await saveOutput(platform.pool, id.runId, '{"found":3}');
  await ask(finishRun(id));
}

/** Returns the runs of the target scripts. */
async function chained() {
  return await platform.reads
    .selectFrom('runs')
    .selectAll()
    .where('script_id', '<>', scriptId())
    .orderBy('run_id')
    .execute();
}

/** Returns the outcomes of the chains: `fired`, or why no run was queued. */
async function answers(): Promise<readonly string[]> {
  const rows = await platform.reads.selectFrom('chain_answers').selectAll().execute();
  return rows.map((row) => row.reason ?? 'fired');
}

describe('a chain', () => {
  beforeEach(() => ask(createChain()));

  test('queues a target run with the outcome of the source run when the source run ends', async () => {
    await sourceEnds();
    await react();
    const [run, ...others] = await chained();
    expect(others).toEqual([]);
    expect(run).toMatchObject({
      script_id: scriptId(2),
      requested_by: 'reaction',
      trigger: { type: 'event', cause: 'chain', chainId: chainId(), runId: runId(), depth: 1 },
    });
    const { payloadSha256 } = run!.trigger as { payloadSha256: string };
    const payload = await getPayload(platform.pool, payloadSha256);
    const { headers, body } = splitWebhookPayload(payload ?? new Uint8Array());
    expect(JSON.parse(headers)).toEqual({ 'content-type': 'application/json' });
    expect(JSON.parse(Buffer.from(body).toString())).toEqual({
      source: {
        run_id: runId(),
        script_id: scriptId(),
        script_name: 'Script 1',
        script_version: 1,
        status: 'success',
        failure_reason: null,
        exit_code: 0,
        finished_at: expect.any(String),
        output: { found: 3 },
      },
    });
    expect(await answers()).toEqual(['fired']);
  });

  test('queues one run even if several reactors process the event repeatedly', async () => {
    await sourceEnds();
    await Promise.all([react(), react(), react()]);
    await reactAgain();
    expect(await chained()).toHaveLength(1);
    expect(await answers()).toEqual(['fired']);
  });

  test('queues no run if its target was disabled, even if the target is enabled again later', async () => {
    await ask({ type: 'DisableScript', scriptId: scriptId(2) });
    await sourceEnds();
    await react();
    await ask({ type: 'EnableScript', scriptId: scriptId(2) });
    await reactAgain();
    expect(await chained()).toEqual([]);
    expect(await answers()).toEqual(['script_disabled']);
  });

  test('keeps a recorded skip if another process queues the run at the same time', async () => {
    await sourceEnds();
    const skip = { type: 'SkipChain', chainId: chainId(), sourceRunId: runId() } as const;
    const run = runScript({
      runId: runId(2),
      scriptId: scriptId(2),
      trigger: {
        type: 'event',
        cause: 'chain',
        chainId: chainId(),
        runId: runId(),
        depth: 1,
        payloadSha256: 'a'.repeat(64),
      },
    });
    const outcomes = await platform.whileHeld(streamOf(`chain-${chainId()}`), [
      () => platform.pipeline({}).execute({ ...skip, reason: 'script_disabled' }, userContext()),
      () => platform.pipeline({}).execute(run, userContext()),
    ]);
    expect(answersOf(outcomes)).toEqual(['accepted', 'already_exists']);
    expect(await answers()).toEqual(['script_disabled']);
  });

  test('queues a waiting run or records a refusal when its target has no free slot', async () => {
    await ask(runScript({ runId: runId(9), scriptId: scriptId(2) }));
    await sourceEnds(1);
    await react();
    expect((await chained()).map((run) => run.waiting)).toEqual([false, true]);
    await ask({ type: 'ChangeChain', chainId: chainId(), changes: { whenBusy: 'refuse' } });
    await sourceEnds(3);
    await react();
    expect(await answers()).toEqual(['fired', 'concurrency_limit_reached']);
  });

  test('holds the target run while triggers are paused', async () => {
    await ask({ type: 'PauseTriggers' });
    await sourceEnds();
    await react();
    expect(await chained()).toMatchObject([{ status: 'queued', waiting: true }]);
  });

  test.each([
    ['the chain is deleted', { type: 'DeleteChain', chainId: chainId() }],
    [
      'the chain is disabled',
      { type: 'ChangeChain', chainId: chainId(), changes: { enabled: false } },
    ],
    ['its target is deleted', { type: 'DeleteScript', scriptId: scriptId(2) }],
  ] as const)('queues no run when %s before the reaction', async (_name, command) => {
    await sourceEnds();
    await ask(command);
    await react();
    expect([await chained(), await answers()]).toEqual([[], []]);
  });

  test('reacts only to later runs after it is enabled again', async () => {
    const change = { type: 'ChangeChain', chainId: chainId() } as const;
    await ask({ ...change, changes: { enabled: false } });
    await sourceEnds(1);
    await ask({ ...change, changes: { enabled: true } });
    await sourceEnds(3);
    await react();
    expect(await chained()).toMatchObject([{ trigger: { runId: runId(3) } }]);
  });
});

test('each run in a series of chains records its depth', async () => {
  const onward = { sourceScriptId: scriptId(2), targetScriptId: scriptId(3) };
  await ask(createChain(), createChain({ chainId: chainId(2), ...onward }));
  await sourceEnds();
  await react();
  const second = (await chained())[0]!.run_id as ReturnType<typeof runId>;
  await ask({ type: 'StartRun', runId: second, runtimeId: 'a', layers: [] });
  await ask(finishRun({ runId: second }));
  await react();
  const depths = (await chained()).map((run) => 'depth' in run.trigger && run.trigger.depth);
  expect(depths).toEqual([1, 2]);
});

describe('two chains that together would form a cycle', () => {
  const there = createChain();
  const back = createChain({
    chainId: chainId(2),
    sourceScriptId: scriptId(2),
    targetScriptId: scriptId(),
  });

  test('are not both created when requested concurrently', async () => {
    const outcomes = await Promise.all(
      [there, back].map((command) => platform.commands.execute(command, userContext())),
    );
    expect(answersOf(outcomes)).toEqual(['accepted', 'validation_failed']);
  });

  test('are not both created when requested by two processes', async () => {
    const outcomes = await platform.whileHeld(streamOf('chains-graph'), [
      () => platform.pipeline({}).execute(there, userContext()),
      () => platform.pipeline({}).execute(back, userContext()),
    ]);
    expect(answersOf(outcomes)).toEqual(['accepted', 'validation_failed']);
  });

  test('form no cycle when one is enabled while the other is redirected', async () => {
    await ask({ ...there, enabled: false }, { ...back, targetScriptId: scriptId(3) });
    const outcomes = await Promise.all([
      platform.commands.execute(
        { type: 'ChangeChain', chainId: chainId(), changes: { enabled: true } },
        userContext(),
      ),
      platform.commands.execute(
        { type: 'ChangeChain', chainId: chainId(2), changes: { targetScriptId: scriptId() } },
        userContext(),
      ),
    ]);
    expect(answersOf(outcomes)).toEqual(['accepted', 'validation_failed']);
  });
});
