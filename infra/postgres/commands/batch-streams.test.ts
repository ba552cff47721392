import type { PlatformEvent } from '#domain/aggregates.ts';
import type { DecisionReads } from '#domain/kernel/aggregate.ts';
import { runId, scriptId } from '#domain/testing/ids.ts';
import { runFinished, runQueued, scriptFacts } from '#domain/testing/samples.ts';
import { systemIds } from '#infra/system/ids.ts';
import { userContext } from '#infra/testing/platform.ts';
import { expect, test } from 'vitest';
import { prefetchReads, BatchStreams } from './batch-streams.ts';

const released: PlatformEvent = {
  type: 'RunReleased',
  data: { runId: runId(), scriptId: scriptId() },
};

/** Returns the script as the next command in the batch sees it. Before the batch, one run is active and one is
 *  waiting. */
async function seenAfter(...events: readonly PlatformEvent[]) {
  const streams = new BatchStreams(new Map(), new Map());
  streams.add(`run-${runId()}`, events, userContext(), systemIds);
  let questions = 0;
  const reads: DecisionReads = {
    calendarExists: () => Promise.resolve(true),
    calendarInUse: () => Promise.resolve(false),
    pool: () => Promise.resolve(undefined),
    poolInUse: () => Promise.resolve(false),
    dueTimeHasRun: () => Promise.resolve(false),
    script: () => {
      questions += 1;
      return Promise.resolve(scriptFacts({ activeRuns: 1, waitingRuns: 1 }));
    },
    channelExists: () => Promise.resolve(true),
    channelInUse: () => Promise.resolve(false),
    groupExists: () => Promise.resolve(true),
    nameTaken: () => Promise.resolve(false),
    chainLinks: () => Promise.resolve([]),
    chain: () => Promise.resolve(undefined),
    schedule: () => Promise.resolve(undefined),
    dataKeyExists: () => Promise.resolve(true),
    emailTaken: () => Promise.resolve(false),
    otherApprover: () => Promise.resolve(true),
    otherAdministrator: () => Promise.resolve(true),
    identityTaken: () => Promise.resolve(false),
    secretStoreGroups: () => Promise.resolve(null),
    secretStoreUsers: () => Promise.resolve([]),
    groupInUse: () => Promise.resolve(false),
  };
  const seen = streams.seenFrom(prefetchReads(reads, [`script-${scriptId()}`]));
  await seen.script(scriptId());
  const facts = await seen.script(scriptId());
  return { active: facts?.activeRuns, waiting: facts?.waitingRuns, questions };
}

test.each([
  ['no event', [], { active: 1, waiting: 1 }],
  ['queuing a run', [runQueued()], { active: 2, waiting: 1 }],
  ['queuing a waiting run', [runQueued({ waiting: true })], { active: 1, waiting: 2 }],
  ['releasing a run', [released], { active: 2, waiting: 1 }],
  [
    'the end of a run, which frees its slot for the next batch',
    [runFinished()],
    { active: 1, waiting: 1 },
  ],
])('the next command in the batch sees the state after %s', async (_, events, expected) => {
  expect(await seenAfter(...events)).toEqual({ ...expected, questions: 1 });
});
