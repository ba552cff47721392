import type { Command } from '#domain/aggregates.ts';
import { deriveTimeOrderedId, type RunId } from '#domain/kernel/ids.ts';
import { triggerTypes, runStatuses } from '#domain/run/run.ts';
import { defaultSettings } from '#domain/script/settings.ts';
import { groupId, runId, scriptId } from '#domain/testing/ids.ts';
import { at, beginning, recordAll } from '#domain/testing/recorded.ts';
import { createScript, finishRun, runScript } from '#domain/testing/samples.ts';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { applyAll } from '../projection.ts';
import { inlineProjections } from '../registry.ts';
import { openTestReads, type TestReads } from '../testing/delivery.ts';
import type { RunListFilter } from './list-filter.ts';
import { listRuns } from './lists.ts';
import type { ListedRun } from './pages.ts';
import {
  listSortedRuns,
  parseSortedPlace,
  runOrders,
  sortedPlaceText,
  type RunOrder,
  type SortedPlace,
} from './sorted.ts';
import type { RunsTable } from './table.ts';

const scripts = Array.from({ length: 9 }, (_, index) => index + 2);
const runs = Array.from({ length: 90 }, (_, index) => index + 1);
const nameOf = (script: number) => (script === 2 ? 'Odd 50%_\\' : `Busy ${script}`);
/** The timestamp in a run's ID is as many seconds after the start as the number of the run. */
const idOf = (number: number) => deriveTimeOrderedId(runId(number), at(number)) as RunId;
const triggerOf = (number: number) =>
  (['manual', 'queue', 'mcp'] as const)[number % 7 > 3 ? 2 : number % 7];

/** Returns how a run ended. The last runs are still waiting or running. */
function endOf(number: number): readonly Command[] {
  const start = { type: 'StartRun', runId: idOf(number), runtimeId: 'a', layers: [] } as const;
  if (number > 84) return [];
  if (number > 78) return [start];
  const outcome = (['success', 'stopped', 'exit_code', 'success', 'timeout'] as const)[number % 5];
  return [start, finishRun({ runId: idOf(number), outcome: outcome ?? 'success' })];
}

/** Creates scripts 2 to 10 with runs. Scripts with even numbers are in group 1, and the others are in group 2. */
const history: readonly Command[] = [
  ...beginning,
  ...scripts.map((script) =>
    createScript({
      scriptId: scriptId(script),
      name: nameOf(script),
      groupId: groupId(1 + (script % 2)),
      settings: { ...defaultSettings, maxConcurrentRuns: 100 },
    }),
  ),
  ...runs.flatMap((number) => [
    runScript({
      runId: idOf(number),
      scriptId: scriptId(2 + (number % 9)),
      trigger: { type: triggerOf(number) ?? 'queue' },
    }),
    ...endOf(number),
  ]),
];

let reads: TestReads;
let rows: readonly RunsTable[];
beforeAll(async () => {
  reads = await openTestReads();
  await applyAll(inlineProjections, reads.db, await recordAll(history));
  rows = await reads.db.selectFrom('runs').selectAll().orderBy('run_id', 'desc').execute();
});
afterAll(() => reads.close());

const all: RunListFilter = { groupIds: null };

/** Returns the time at which a run was requested, according to its ID. */
const timeOf = ({ run_id: id }: RunsTable) => Number.parseInt(id.replace('-', '').slice(0, 12), 16);

/** Returns the expected list, which is computed from all runs. */
function expected(filter: RunListFilter): readonly RunsTable[] {
  const { groupIds, scriptId: script, statuses, triggerTypes: triggers, from, to, text } = filter;
  return rows.filter(
    (row) =>
      (groupIds === null || groupIds.some((group) => group === row.group_id)) &&
      (script === undefined || row.script_id === script) &&
      row.group_id !== filter.notGroupId &&
      row.script_id !== filter.notScriptId &&
      (statuses?.includes(row.status) ?? true) &&
      (triggers?.includes(row.trigger_type) ?? true) &&
      (from === undefined || timeOf(row) >= from.getTime()) &&
      (to === undefined || timeOf(row) < to.getTime()) &&
      (text === undefined || row.script_name.toLowerCase().includes(text.toLowerCase())),
  );
}

/** Reads all pages of a list. */
async function listed(filter: RunListFilter, limit = 10): Promise<readonly ListedRun[]> {
  const found: ListedRun[] = [];
  for (let after: RunId | undefined; ;) {
    const page = await listRuns(reads.db, filter, after, limit);
    found.push(...page);
    if (page.length < limit) return found;
    after = page.at(-1)?.run_id as RunId;
  }
}

describe('the list of runs', () => {
  test('starts with the newest run and continues after the last run of a page', async () => {
    expect(rows).toMatchObject(await listed(all, 7));
    expect(await listRuns(reads.db, all, idOf(1), 10)).toEqual([]);
  });

  test.each<[string, RunListFilter, number]>([
    ['a group', { groupIds: [groupId(2)] }, 40],
    ['no group', { groupIds: [] }, 0],
    ['a script', { ...all, scriptId: scriptId(3) }, 10],
    ['a script in another group', { groupIds: [groupId(1)], scriptId: scriptId(3) }, 0],
    ['waiting runs', { ...all, statuses: ['queued'] }, 6],
    ['running runs', { ...all, statuses: ['running'] }, 6],
    ['failed runs', { ...all, statuses: ['failed'] }, 31],
    ['an unused trigger', { ...all, triggerTypes: ['schedule'] }, 0],
    ['an excluded group', { ...all, notGroupId: groupId(1) }, 40],
    ['a group that is also excluded', { groupIds: [groupId(2)], notGroupId: groupId(2) }, 0],
    ['other scripts', { ...all, notScriptId: scriptId(3) }, 80],
    ['no status', { ...all, statuses: [] }, 0],
    [
      'runs that did not fail',
      { ...all, statuses: ['queued', 'running', 'success', 'stopped'] },
      59,
    ],
    ['one minute', { ...all, from: at(10), to: at(70) }, 60],
    ['all time', { ...all, from: new Date(-1) }, 90],
    ['no time', { ...all, to: new Date(-1) }, 0],
    ['names, ignoring case', { ...all, text: 'BUSY' }, 80],
    ['names with special characters', { ...all, text: '50%_\\' }, 10],
    ['names without a match', { ...all, text: '50%x' }, 0],
    ['many scripts with a status', { ...all, text: 'busy', statuses: ['failed'] }, 27],
  ])('filters by %s', async (_, filter, count) => {
    const found = await listed(filter);
    expect(expected(filter)).toMatchObject(found);
    expect(found).toHaveLength(count);
  });

  test('contains the expected runs for any combination of filters, page by page', async () => {
    const maybe = <Value>(...values: readonly Value[]) => fc.constantFrom(undefined, ...values);
    const filters = fc.record({
      groupIds: fc.constantFrom(null, [], [groupId(1)], [groupId(2), groupId(1)]),
      scriptId: maybe(scriptId(2), scriptId(3)),
      notGroupId: maybe(groupId(1), groupId(2)),
      notScriptId: maybe(scriptId(2), scriptId(4)),
      statuses: fc.option(fc.subarray([...runStatuses]), { nil: undefined }),
      triggerTypes: fc.option(fc.subarray([...triggerTypes]), { nil: undefined }),
      from: maybe(at(20)),
      to: maybe(at(50), at(88)),
      text: maybe('busy', '%', 'busy 3'),
    });
    await fc.assert(
      fc.asyncProperty(filters, fc.constantFrom(4, 50), async (given, limit) => {
        const wanted = Object.entries(given).filter(([, value]) => value !== undefined);
        const filter = Object.fromEntries(wanted) as unknown as RunListFilter;
        expect(expected(filter)).toMatchObject(await listed(filter, limit));
      }),
      { numRuns: 150 },
    );
  });
});

describe('a sorted list of runs', () => {
  const values: Readonly<Record<string, (run: ListedRun) => number | string | null>> = {
    started: (run) => run.started_at?.getTime() ?? null,
    duration: (run) => run.duration_ms,
    status: (run) => runStatuses.indexOf(run.status),
    script: (run) => run.script_name.toLowerCase(),
  };

  /** Reads all pages of a sorted list. */
  async function sorted(filter: RunListFilter, order: RunOrder): Promise<readonly ListedRun[]> {
    const found: ListedRun[] = [];
    let after: SortedPlace | undefined;
    do {
      const page = await listSortedRuns(reads.db, filter, order, { after, limit: 7 });
      found.push(...page.rows);
      after = page.next ? parseSortedPlace(sortedPlaceText(page.next)) : undefined;
    } while (after !== undefined);
    return found;
  }

  test.each(runOrders)(
    'contains each run once in the order "%s", with missing values last',
    async (order) => {
      const valueOf = values[order.replace('-', '')] ?? (() => null);
      const ascending = rows.toSorted((one, other) => {
        const [first, second] = [valueOf(one), valueOf(other)];
        return first === second ? 0 : (first ?? '') < (second ?? '') ? -1 : 1;
      });
      const [known, unknown] = [
        ascending.filter((run) => valueOf(run) !== null),
        rows.filter((run) => valueOf(run) === null),
      ];
      const inOrder = Map.groupBy(known, valueOf);
      const groups = order.startsWith('-') ? [...inOrder.values()].toReversed() : inOrder.values();
      const expectedIds = [...groups, unknown].flat().map((run) => run.run_id);
      expect((await sorted(all, order)).map((run) => run.run_id)).toEqual(expectedIds);
    },
  );

  test('applies the filters', async () => {
    const filter = { ...all, statuses: ['failed'], text: 'busy 3' } as const;
    const found = await sorted(filter, '-started');
    expect(new Set(found.map((run) => run.run_id))).toEqual(
      new Set(expected(filter).map((run) => run.run_id)),
    );
  });

  test('omits runs that were created after the first page was loaded', async () => {
    const first = await listSortedRuns(reads.db, all, 'script', { after: undefined, limit: 90 });
    expect(first.next).toBeNull();
    const after = { newest: idOf(50), id: idOf(50), value: '' };
    const { rows: older } = await listSortedRuns(reads.db, all, 'script', { after, limit: 100 });
    expect(older).toHaveLength(50);
  });

  test.each(['', 'x y #1', `${idOf(1)} x =a`])('refuses the position %j', (text) => {
    expect(parseSortedPlace(text)).toBeUndefined();
  });
});
