import type { Command } from '#domain/aggregates.ts';
import type { GroupId } from '#domain/kernel/ids.ts';
import { groupId, runId, scriptId } from '#domain/testing/ids.ts';
import { beginning, recordAll } from '#domain/testing/recorded.ts';
import { createScript, file, finishRun, runScript } from '#domain/testing/samples.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { applyAll } from '../projection.ts';
import { inlineProjections } from '../registry.ts';
import { openTestReads, type TestReads } from '../testing/delivery.ts';
import { findScript, findScriptGroup, listScripts, type ScriptListFilter } from './queries.ts';

const id = { scriptId: scriptId() };
const another = (number: number, name: string, group = 1): Command =>
  createScript({ scriptId: scriptId(number), name, groupId: groupId(group), files: [] });

/** Script 1 has earlier events. Scripts 2 and 4 are in another group, script 3 is disabled, and script 5 is deleted. */
const history: readonly Command[] = [
  ...beginning,
  another(2, 'Zweiter Bericht', 2),
  another(3, 'Dritter'),
  another(4, '100% "REPORT"', 2),
  another(5, 'Deleted report'),
  { type: 'DisableScript', scriptId: scriptId(3) },
  { type: 'DeleteScript', scriptId: scriptId(5) },
  { type: 'SaveFile', ...id, ...file('lib/b.py', 'b', 5) },
  { type: 'SaveFile', ...id, ...file('main.py', 'c', 30) },
  { type: 'SaveFile', ...id, ...file('Zebra.py', 'd', 1) },
];

let reads: TestReads;
beforeAll(async () => {
  reads = await openTestReads();
  await applyAll(inlineProjections, reads.db, await recordAll(history));
});
afterAll(() => reads.close());

const all: ScriptListFilter = { groupIds: null };

async function listed(filter: ScriptListFilter, after?: number, limit = 10) {
  const behind = after === undefined ? undefined : scriptId(after);
  const found = await listScripts(reads.db, filter, behind, limit);
  return found.map((script) => script.script_id);
}

const numbered = (...numbers: readonly number[]) => numbers.map((number) => scriptId(number));

describe('the list of scripts', () => {
  test('starts with the newest script and omits deleted scripts', async () => {
    expect(await listed(all)).toEqual(numbered(4, 3, 2, 1));
  });

  test('continues after the last script of a page', async () => {
    expect(await listed(all, undefined, 2)).toEqual(numbered(4, 3));
    expect(await listed(all, 3, 2)).toEqual(numbered(2, 1));
    expect(await listed(all, 1, 2)).toEqual([]);
  });

  test.each<[readonly GroupId[], readonly number[]]>([
    [[groupId(1)], [3, 1]],
    [[groupId(2)], [4, 2]],
    [
      [groupId(1), groupId(2)],
      [4, 3, 2, 1],
    ],
    [[], []],
  ])('with a filter for the groups %j, contains the scripts %j', async (groupIds, expected) => {
    expect(await listed({ groupIds })).toEqual(numbered(...expected));
  });

  test.each([
    ['report', [4, 1]],
    ['BERICHT', [2]],
    ['%', [4]],
    ['_', []],
    ['100% "', [4]],
  ])('with a filter for the text %j, contains the scripts %j', async (text, expected) => {
    expect(await listed({ ...all, text })).toEqual(numbered(...expected));
  });

  test('can be filtered by whether scripts are enabled', async () => {
    expect(await listed({ ...all, enabled: true })).toEqual(numbered(4, 2, 1));
    expect(await listed({ ...all, enabled: false })).toEqual(numbered(3));
  });

  test('combines all filters', async () => {
    const filter = { groupIds: [groupId(2)], text: 'report', enabled: true };
    expect(await listed(filter, 5, 1)).toEqual(numbered(4));
    expect(await listed(filter, 4, 1)).toEqual([]);
  });
});

describe('a single script', () => {
  test('is found with its group and the size of its current files', async () => {
    expect(await findScript(reads.db, scriptId())).toMatchObject({
      script_id: scriptId(),
      group: 'Reports',
      storage_used_bytes: 36,
      last_run: null,
      version: 4,
    });
    expect(await findScript(reads.db, scriptId(2))).toMatchObject({
      group: 'Others',
      storage_used_bytes: 0,
    });
  });

  test('is not found if it was deleted or never existed', async () => {
    for (const number of [5, 9]) {
      expect(await findScript(reads.db, scriptId(number))).toBeUndefined();
      expect(await findScriptGroup(reads.db, scriptId(number))).toBeUndefined();
    }
    expect(await findScriptGroup(reads.db, scriptId(2))).toEqual({ group_id: groupId(2) });
  });

  test('shows the last finished run', async () => {
    const run = (number: number) => runScript({ runId: runId(number) });
    const start = { type: 'StartRun', runtimeId: 'a', layers: [] } as const;
    const commands = [
      ...history,
      ...[1, 2].flatMap((number) => [
        run(number),
        { ...start, runId: runId(number) },
        finishRun({ runId: runId(number), outcome: number === 1 ? 'success' : 'timeout' }),
      ]),
      run(3),
    ];
    const events = await recordAll(commands);
    await applyAll(inlineProjections, reads.db, events);
    const script = await findScript(reads.db, scriptId());
    const finishedAt = events.findLast((event) => event.type === 'RunFinished')?.recordedAt;
    expect(script?.last_run).toEqual({
      run_id: runId(2),
      status: 'failed',
      finished_at: finishedAt,
    });
  });
});
