import { runId, scriptId } from '#domain/testing/ids.ts';
import { createGroup, createScript, runScript } from '#domain/testing/samples.ts';
import { openTestPlatform, type TestPlatform } from '#infra/testing/platform.ts';
import { groupsProjection } from '#projections/groups/apply.ts';
import { scriptsProjection } from '#projections/scripts/apply.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { withTablesAt } from './tables-at.ts';

let platform: TestPlatform;
beforeAll(async () => {
  platform = await openTestPlatform();
});
afterAll(() => platform.close());

const projections = [groupsProjection, scriptsProjection];

test('tables as of a point in time are visible only to one session, including its own writes', async () => {
  await platform.accepted(createGroup());
  await platform.accepted(createScript({ scriptId: scriptId(1) }));
  const { rows } = await platform.pool.query<{ position: number }>(
    'SELECT max(global_position) AS position FROM events',
  );
  await platform.accepted(createScript({ scriptId: scriptId(2) }));
  await platform.accepted(runScript({ scriptId: scriptId(2), runId: runId(1) }));
  const moment = { kind: 'position', position: Number(rows[0]?.position) } as const;
  const past = { projections, moment, without: ['run'] };
  const count = (db: TestPlatform['reads']) =>
    db.selectFrom('scripts').select('script_id').execute();

  const found = await withTablesAt(platform.pool, past, async (db) => {
    const then = await count(db);
    await db.deleteFrom('scripts').execute();
    return [then, await count(db), await count(platform.reads)].map((each) => each.length);
  });
  expect(found).toEqual([1, 0, 2]);
  expect(await count(platform.reads)).toHaveLength(2);
});

test('an error in the callback reaches the caller', async () => {
  const past = { projections, moment: { kind: 'position', position: 1 }, without: [] } as const;
  const work = withTablesAt(platform.pool, past, () => Promise.reject(new Error('no')));
  await expect(work).rejects.toThrow('no');
});
