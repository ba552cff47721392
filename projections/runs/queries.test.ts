import type { Command } from '#domain/aggregates.ts';
import { groupId, runId, scriptId } from '#domain/testing/ids.ts';
import { beginning, recordAll } from '#domain/testing/recorded.ts';
import { createScript, finishRun, runScript } from '#domain/testing/samples.ts';
import { defaultSettings } from '#domain/script/settings.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { applyAll } from '../projection.ts';
import { inlineProjections } from '../registry.ts';
import { openTestReads, type TestReads } from '../testing/delivery.ts';
import { activeRuns, findRun, findRuns } from './queries.ts';

const start = (number: number): Command => ({
  type: 'StartRun',
  runId: runId(number),
  runtimeId: 'a',
  layers: [],
});
const run = (number: number, script: number): Command =>
  runScript({ runId: runId(number), scriptId: scriptId(script) });

/** Runs 1 to 4 of script 2 in group 1, and run 5 of script 3 in group 2. They are queued at positions 6 to 10. */
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

const numbered = (...numbers: readonly number[]) => numbers.map((number) => runId(number));

test('runs are found by ID', async () => {
  expect(await findRun(reads.db, runId(3))).toMatchObject({ run_id: runId(3), status: 'running' });
  expect(await findRun(reads.db, runId(9))).toBeUndefined();
  const found = await findRuns(reads.db, numbered(5, 9, 1));
  expect(found.map((one) => one.run_id)).toEqual(numbered(1, 5));
  expect(await findRuns(reads.db, [])).toEqual([]);
});

test('the active runs of a script are its queued and running runs, oldest first', async () => {
  const active = await activeRuns(reads.db, scriptId(2));
  expect(active.map((one) => [one.run_id, one.status])).toEqual([
    [runId(3), 'running'],
    [runId(4), 'queued'],
  ]);
  expect(await activeRuns(reads.db, scriptId(1))).toEqual([]);
});
