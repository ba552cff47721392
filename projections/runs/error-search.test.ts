/** Tests that a search in errors reads only a few rows, regardless of the number of failed runs. */
import { mustParse, parseErrorGroupId, type RunId } from '#domain/kernel/ids.ts';
import { groupId, runId } from '#domain/testing/ids.ts';
import { beginning, recordAll } from '#domain/testing/recorded.ts';
import { runScript } from '#domain/testing/samples.ts';
import { openDatabase, queryBuilder, type Database } from '#infra/postgres/database.ts';
import { withClient } from '#infra/testing/client.ts';
import { createTestDatabase } from '#infra/testing/database.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { applyAll, type ReadModels } from '../projection.ts';
import { inlineProjections } from '../registry.ts';
import type { Tables } from '../tables.ts';
import { rowsSeen } from '../testing/rows-seen.ts';
import type { RunListFilter } from './list-filter.ts';
import { listRuns } from './lists.ts';

const runs = 6_000;
const pageSize = 50;
const rare = 7;

let database: Database;
let drop: () => Promise<void>;
let db: ReadModels;
let group: string;

/** Creates copies of one failed run. One of the copies has a different error. */
const copies = `INSERT INTO runs
  SELECT (jsonb_populate_record(run, jsonb_build_object(
    'run_id', ('01900000-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid,
    'status', 'failed', 'ended_as', 'failed', 'finished_at', now(),
    'error_fingerprint', CASE n WHEN ${rare} THEN 'rare' ELSE 'frequent' END))).*
  FROM runs run, generate_series(1, ${runs}) n`;
const errors = `INSERT INTO run_reports (run_id, error)
  SELECT run_id, jsonb_build_object('type', 'ValueError', 'message', CASE error_fingerprint
    WHEN 'rare' THEN 'once only' ELSE 'no answer' END) FROM runs WHERE status = 'failed'`;

beforeAll(async () => {
  const made = await createTestDatabase();
  drop = made.drop;
  database = openDatabase(made.serviceUrl, {
    connections: 2,
    applicationName: 'test',
    onIdleError: () => undefined,
  });
  db = queryBuilder<Tables>(database.pool);
  const history = await recordAll([...beginning, runScript({ runId: runId(1) })]);
  await applyAll(inlineProjections, db, history);
  await withClient(made.adminUrl, async (client) => {
    await client.query(copies);
    await client.query(errors);
    await client.query('VACUUM ANALYZE runs, run_reports');
    const { rows } = await client.query<{ id: string }>(
      `SELECT md5($1::uuid::text || 'rare')::uuid AS id`,
      [groupId()],
    );
    group = rows[0]?.id ?? '';
  });
});
afterAll(async () => {
  await database.close();
  await drop();
});

const rareId = `01900000-0000-7000-8000-${rare.toString(16).padStart(12, '0')}`;

test.each<[string, () => Partial<RunListFilter>, number]>([
  ['a frequent error', () => ({ text: 'NO ANSWER' }), pageSize],
  ['a rare error', () => ({ text: 'once only' }), 1],
  ['an unknown error', () => ({ text: 'no such error' }), 0],
  ['a run ID', () => ({ text: rareId }), 1],
  ['a rare error group', () => ({ errorGroupId: mustParse(parseErrorGroupId, group) }), 1],
])('a search for %s reads only a few rows', async (_, filterOf, count) => {
  const filter = { groupIds: [groupId()], ...filterOf() };
  let found = 0;
  const seen = await rowsSeen(db, ['runs', 'run_reports'], async (transaction) => {
    found = (await listRuns(transaction, filter, undefined, pageSize)).length;
  });
  expect(found).toBe(count);
  // The errors of the 200 newest failed runs. For each error, an index entry and a row are read from two tables.
  expect(seen).toBeLessThanOrEqual(1_000);
});

test('a page of search results continues after the last run of the previous page', async () => {
  const filter = { groupIds: null, text: 'value' };
  const [first] = await listRuns(db, filter, undefined, 1);
  const [second] = await listRuns(db, filter, first?.run_id as RunId, 1);
  expect([first?.run_id, second?.run_id]).toEqual(
    [runs, runs - 1].map((n) => `01900000-0000-7000-8000-${n.toString(16).padStart(12, '0')}`),
  );
});
