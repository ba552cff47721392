/** Tests that a page reads only a few rows, regardless of the number of runs and the selectivity of the filter. */
import type { GroupId, RunId, ScriptId } from '#domain/kernel/ids.ts';
import { deriveTimeOrderedId } from '#domain/kernel/ids.ts';
import { groupId, runId, scriptId } from '#domain/testing/ids.ts';
import { at, beginning, recordAll } from '#domain/testing/recorded.ts';
import { createScript, runScript } from '#domain/testing/samples.ts';
import { openDatabase, queryBuilder, type Database } from '#infra/postgres/database.ts';
import { withClient } from '#infra/testing/client.ts';
import { createTestDatabase } from '#infra/testing/database.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { applyAll, type ReadModels } from '../projection.ts';
import { inlineProjections } from '../registry.ts';
import { readActivity } from '../scripts/activity.ts';
import { failingScripts } from '../scripts/failing.ts';
import { idleScripts } from '../scripts/kept-alive.ts';
import { listScripts } from '../scripts/queries.ts';
import type { Tables } from '../tables.ts';
import { rowsSeen } from '../testing/rows-seen.ts';
import type { RunListFilter } from './list-filter.ts';
import { listRuns } from './lists.ts';
import { readDurationStats } from './duration-stats.ts';

const runs = 6_000;
const pageSize = 50;

let database: Database;
let drop: () => Promise<void>;
let db: ReadModels;

/** Creates copies of one run, one second apart. The first hundred were started manually and failed. All others were
 *  scheduled and succeeded. The copies alternate between two scripts in two groups. */
const copies = `INSERT INTO runs
  SELECT (jsonb_populate_record(run, jsonb_build_object(
    'run_id', (lpad(to_hex($1::bigint + n * 1000), 12, '0') || '70008' || lpad(to_hex(n), 15, '0'))::uuid,
    'script_id', CASE n % 2 WHEN 0 THEN $2 ELSE $3 END,
    'group_id', CASE n % 2 WHEN 0 THEN $4 ELSE $5 END,
    'status', CASE WHEN n <= 100 THEN 'failed' ELSE 'success' END,
    'ended_as', CASE WHEN n <= 100 THEN 'failed' ELSE 'success' END,
    'trigger_type', CASE WHEN n <= 100 THEN 'manual' ELSE 'schedule' END,
    'finished_at', now()))).*
  FROM runs run, generate_series(1, ${runs}) n`;

/** Creates 200 scripts without runs, half of them with each name. Each name matches more scripts than the maximum
 *  number of merged ranges. */
const crowds = `INSERT INTO scripts
  SELECT (jsonb_populate_record(script, jsonb_build_object(
    'script_id', gen_random_uuid(), 'keep_alive', true, 'name', CASE n % 2 WHEN 0 THEN 'Another' ELSE 'Quiet' END))).*
  FROM scripts script, generate_series(1, 200) n WHERE script_id = $1`;

beforeAll(async () => {
  const made = await createTestDatabase();
  drop = made.drop;
  database = openDatabase(made.serviceUrl, {
    connections: 2,
    applicationName: 'test',
    onIdleError: () => undefined,
  });
  db = queryBuilder<Tables>(database.pool);
  const other = createScript({ scriptId: scriptId(2), name: 'Other', groupId: groupId(2) });
  const history = await recordAll([...beginning, other, runScript({ runId: runId(1) })]);
  await applyAll(inlineProjections, db, history);
  await withClient(made.adminUrl, async (client) => {
    const ids = [scriptId(1), scriptId(2), groupId(1), groupId(2)];
    await client.query(copies, [at(0).getTime(), ...ids]);
    await client.query(crowds, [scriptId(2)]);
    await client.query('VACUUM ANALYZE runs, scripts');
  });
});
afterAll(async () => {
  await database.close();
  await drop();
});

/** Counts the rows of runs that a page reads. */
async function lookedAt(filter: RunListFilter, after?: RunId): Promise<number> {
  return await seenBy((transaction) => listRuns(transaction, filter, after, pageSize));
}

/** Counts the rows of runs that are read. */
const seenBy = (look: (db: ReadModels) => Promise<unknown>) => rowsSeen(db, ['runs'], look);

/** A search also reads the 200 newest failed runs. For each run, an index entry is read. The table row is also read
 *  if the index does not cover the query. */
const errorsRead = ({ text }: RunListFilter): number => (text === undefined ? 0 : 2 * 200);

const all = { groupIds: null };
const own = { groupIds: [groupId(1), groupId(2)] };
const late = at(runs / 2);

test.each<[string, RunListFilter]>([
  ['none', all],
  ['groups', own],
  ['a script', { ...all, scriptId: scriptId(2) }],
  ['failed runs', { ...all, statuses: ['failed'] }],
  ['failed runs in groups', { ...own, statuses: ['failed'] }],
  ['failed runs of a script', { ...all, scriptId: scriptId(2), statuses: ['failed'] }],
  ['recent failed runs, without a match', { ...own, statuses: ['failed'], from: late }],
  ['a rare trigger', { ...own, triggerTypes: ['manual'] }],
  ['an unused trigger', { ...all, triggerTypes: ['rerun'] }],
  [
    'an unused combination of trigger and status',
    { ...own, triggerTypes: ['schedule'], statuses: ['failed'] },
  ],
  ['runs without success', { ...own, statuses: ['queued', 'running', 'failed', 'stopped'] }],
  ['failed runs of all other groups', { ...all, notGroupId: groupId(2), statuses: ['failed'] }],
  ['a time range', { ...own, from: at(10), to: at(20) }],
  ['waiting runs', { ...own, statuses: ['queued'] }],
  ['a name', { ...all, text: 'other', statuses: ['failed'] }],
  ['a script of another group', { groupIds: [groupId(1)], scriptId: scriptId(2) as ScriptId }],
])('a page of runs reads only a few rows with the filter: %s', async (_, filter) => {
  const middle = deriveTimeOrderedId(runId(1), late) as RunId;
  // An index entry and a table row are read for each run of the page, and a few rows for each range. These are far
  // fewer than all rows.
  const most = 5 * pageSize + errorsRead(filter);
  expect(await lookedAt(filter)).toBeLessThanOrEqual(most);
  expect(await lookedAt(filter, middle)).toBeLessThanOrEqual(most);
});

test.each<[string, RunListFilter]>([
  ['the runs of all other scripts', { ...own, notScriptId: scriptId(1) }],
  [
    'the runs of all other scripts, without a match',
    { groupIds: [groupId(1)], notScriptId: scriptId(1) },
  ],
  ['runs that match a common name', { ...own, text: 'other' }],
  ['runs that match the name of scripts without runs', { ...own, text: 'quiet' }],
])(
  'a page of %s reads at most ten rows per listed run, not counting the error search',
  async (_, filter) => {
    expect(await lookedAt(filter)).toBeLessThanOrEqual(10 * pageSize + errorsRead(filter));
  },
);

const ids = [scriptId(1), scriptId(2), scriptId(3)];

/** Creates two scripts with runs, and hundreds of scripts without runs. */
test.each<[string, number, (reads: ReadModels) => Promise<unknown>]>([
  ['failing scripts', 1, (reads) => failingScripts(reads, own.groupIds as GroupId[], 6)],
  ['typical durations', 100, (reads) => readDurationStats(reads, ids)],
  ['recent activity', 10, (reads) => readActivity(reads, ids)],
  ['always-on scripts without a run', 7, (reads) => idleScripts(reads, 7)],
  ['a list of scripts', 1, (reads) => listScripts(reads, all, undefined, 1_000)],
  [
    'scripts by their last success',
    2,
    (reads) => listScripts(reads, { ...all, lastStatuses: ['success'] }, undefined, 1_000),
  ],
])('the query for %s reads only the latest runs of each script', async (_, runsOfEach, look) => {
  // For each run, an index entry and a table row are read.
  expect(await seenBy(look)).toBeLessThanOrEqual(2 * 2 * runsOfEach + 1);
});
