import { runId, scriptId } from '#domain/testing/ids.ts';
import { beginning, recordAll } from '#domain/testing/recorded.ts';
import { createScript, finishRun, runScript } from '#domain/testing/samples.ts';
import { mustParse, parseErrorGroupId } from '#domain/kernel/ids.ts';
import { defaultSettings } from '#domain/script/settings.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { applyAll } from '../projection.ts';
import { inlineProjections } from '../registry.ts';
import { openTestReads, type TestReads } from '../testing/delivery.ts';
import { errorOccurrences, listErrorGroups } from './queries.ts';

let reads: TestReads;
const failures = (numbers: readonly number[], fingerprint: string) =>
  numbers.flatMap((number) => [
    runScript({ runId: runId(number), scriptId: scriptId(2) }),
    { type: 'StartRun', runId: runId(number), runtimeId: 'a', layers: [] } as const,
    finishRun({
      runId: runId(number),
      outcome: 'exit_code',
      error: { type: 'ValueError', source: 'log', fingerprint, sha256: '' },
    }),
  ]);
const history = [
  ...beginning,
  createScript({
    scriptId: scriptId(2),
    settings: { ...defaultSettings, maxConcurrentRuns: 100 },
  }),
  ...failures([1, 2, 3], 'a'),
  ...failures([4], 'b'),
  ...failures([5], 'a'),
];

beforeAll(async () => {
  reads = await openTestReads();
  await applyAll(inlineProjections, reads.db, await recordAll(history));
});
afterAll(() => reads.close());

test('the occurrences of an error are counted up to and including the given run', async () => {
  const counts = [];
  for (const number of [1, 2, 3, 4, 5, 6]) {
    counts.push(await errorOccurrences(reads.db, runId(number), 10));
  }
  expect(counts).toEqual([1, 2, 3, 1, 4, 0]);
  expect(await errorOccurrences(reads.db, runId(5), 2)).toBe(2);
});

test('the occurrences of an ignored error are not counted', async () => {
  const all = { groupIds: null, scriptId: null, status: null, since: null, text: null };
  const group = (await listErrorGroups(reads.db, all, undefined, 9)).find(
    ({ count }) => count === 4,
  );
  const errorGroupId = mustParse(parseErrorGroupId, group?.error_group_id ?? '');
  const ignore = { type: 'IgnoreErrorGroup', errorGroupId, until: null } as const;
  await applyAll(inlineProjections, reads.db, await recordAll([ignore]));
  expect(await errorOccurrences(reads.db, runId(5), 10)).toBe(0);
  expect(await errorOccurrences(reads.db, runId(4), 10)).toBe(1);
});
