import type { Command } from '#domain/aggregates.ts';
import { groupId, runId, scriptId } from '#domain/testing/ids.ts';
import { at, beginning, recordAll } from '#domain/testing/recorded.ts';
import { createScript, finishRun, runScript } from '#domain/testing/samples.ts';
import { defaultSettings } from '#domain/script/settings.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { applyAll } from '../projection.ts';
import { inlineProjections } from '../registry.ts';
import { openTestReads, type TestReads } from '../testing/delivery.ts';
import { activeRuns, findRun, findRuns, listRuns, type RunListFilter } from './queries.ts';

const start = (number: number): Command => ({
  type: 'StartRun',
  runId: runId(number),
  runtimeId: 'a',
  layers: [],
});
const run = (number: number, script: number): Command =>
  runScript({ runId: runId(number), scriptId: scriptId(script) });

/** Runs 1 to 4 of script 2, in group 1, and run 5 of script 3, in group 2; queued at places 6 to 10. */
const history: readonly Command[] = [
  ...beginning,
  createScript({
    scriptId: scriptId(2),
    name: 'Busy',
    settings: { ...defaultSettings, maxConcurrentRuns: 10 },
  }),
  createScript({ scriptId: scriptId(3), name: 'Other 50%', groupId: groupId(2) }),
  run(1, 2),
  run(2, 2),
  run(3, 2),
  run(4, 2),
  run(5, 3),
  ...[1, 2, 3].map(start),
  finishRun({ runId: runId(1) }),
  finishRun({ runId: runId(2), outcome: 'timeout' }),
];

let reads: TestReads;
beforeAll(async () => {
  reads = await openTestReads();
  await applyAll(inlineProjections, reads.db, await recordAll(history));
});
afterAll(() => reads.close());

const all: RunListFilter = { groupIds: null };
const numbered = (...numbers: readonly number[]) => numbers.map((number) => runId(number));

async function listed(filter: RunListFilter, after?: number, limit = 10) {
  const behind = after === undefined ? undefined : runId(after);
  return (await listRuns(reads.db, filter, behind, limit)).map((found) => found.run_id);
}

describe('the list of runs', () => {
  test('begins with the newest', async () => {
    expect(await listed(all)).toEqual(numbered(5, 4, 3, 2, 1));
  });

  test('goes on behind the last of a page', async () => {
    expect(await listed(all, undefined, 2)).toEqual(numbered(5, 4));
    expect(await listed(all, 4, 2)).toEqual(numbered(3, 2));
    expect(await listed(all, 2, 2)).toEqual(numbered(1));
    expect(await listed(all, 1, 2)).toEqual([]);
  });

  test.each<[string, RunListFilter, readonly number[]]>([
    ['of a group', { groupIds: [groupId(2)] }, [5]],
    ['of no group', { groupIds: [] }, []],
    ['of a script', { ...all, scriptId: scriptId(2) }, [4, 3, 2, 1]],
    ['that wait', { ...all, status: 'queued' }, [5, 4]],
    ['that run', { ...all, status: 'running' }, [3]],
    ['that failed', { ...all, status: 'failed' }, [2]],
    ['that were stopped', { ...all, status: 'stopped' }, []],
    ['by a person', { ...all, triggerType: 'manual' }, [5, 4, 3, 2, 1]],
    ['queued from a time on', { ...all, from: at(8) }, [5, 4, 3]],
    ['queued before a time', { ...all, to: at(8) }, [2, 1]],
    ['queued within an hour', { ...all, from: at(7), to: at(9) }, [3, 2]],
    ['of scripts with a name', { ...all, text: 'bUSY' }, [4, 3, 2, 1]],
    ['of scripts with a sign in the name', { ...all, text: '%' }, [5]],
    ['of a script in another group', { groupIds: [groupId(1)], scriptId: scriptId(3) }, []],
    ['that fit all of it', { groupIds: [groupId(1)], status: 'queued', text: 'busy' }, [4]],
  ])('can be of those %s', async (_, filter, expected) => {
    expect(await listed(filter)).toEqual(numbered(...expected));
  });
});

test('runs are found by their ids', async () => {
  expect(await findRun(reads.db, runId(3))).toMatchObject({ run_id: runId(3), status: 'running' });
  expect(await findRun(reads.db, runId(9))).toBeUndefined();
  const found = await findRuns(reads.db, numbered(5, 9, 1));
  expect(found.map((one) => one.run_id)).toEqual(numbered(1, 5));
  expect(await findRuns(reads.db, [])).toEqual([]);
});

test('the active runs of a script are those that wait or run, oldest first', async () => {
  const active = await activeRuns(reads.db, scriptId(2));
  expect(active.map((one) => [one.run_id, one.status])).toEqual([
    [runId(3), 'running'],
    [runId(4), 'queued'],
  ]);
  expect(await activeRuns(reads.db, scriptId(1))).toEqual([]);
});
