import type { ErrorFact } from '#domain/run/error/error.ts';
import { errorGroupId, runId, scriptId } from '#domain/testing/ids.ts';
import { reactionReads } from '#domain/testing/reads.ts';
import { beginning, recordAll } from '#domain/testing/recorded.ts';
import { finishRun, runScript } from '#domain/testing/samples.ts';
import { expect, test } from 'vitest';
import { whenErrorRecursReopenGroup } from './when-error-recurs-reopen-group.ts';

const error: ErrorFact = { type: 'ValueError', source: 'log', fingerprint: 'f', sha256: 's' };
const resolved = { errorGroupId: errorGroupId(), scriptId: scriptId(), version: 3 };

async function reactTo(change: { error?: ErrorFact }, group?: typeof resolved) {
  const start = { type: 'StartRun', runId: runId(), runtimeId: 'a', layers: [] } as const;
  const end = { ...finishRun({ outcome: 'exit_code', exitCode: 1 }), ...change };
  const events = await recordAll([...beginning, runScript(), start, end]);
  const reads = reactionReads({ resolvedErrorGroup: () => Promise.resolve(group) });
  return await whenErrorRecursReopenGroup.react(events.at(-1)!, reads, () => runId(2));
}

test('a resolved error group reopens when its error recurs', async () => {
  expect(await reactTo({ error }, resolved)).toEqual([
    { type: 'ReopenErrorGroup', ...resolved, runId: runId() },
  ]);
});

test('no error group reopens if the error group of the run is not resolved or the run has no error', async () => {
  expect(await reactTo({ error })).toEqual([]);
  expect(await reactTo({}, resolved)).toEqual([]);
});
