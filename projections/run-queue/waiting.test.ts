/** The cost of waiting runs is small, regardless of their number. */
import { defaultSettings } from '#domain/script/settings.ts';
import { runId, scriptId } from '#domain/testing/ids.ts';
import { createGroup, createScript, runScript } from '#domain/testing/samples.ts';
import { withClient } from '#infra/testing/client.ts';
import { openTestPlatform, type TestPlatform } from '#infra/testing/platform.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ReadModels } from '../projection.ts';
import { rowsSeen } from '../testing/rows-seen.ts';
import { decisionReads } from '../decision-reads.ts';
import { releasableRuns } from './waiting.ts';

const many = 3_000;
const slots = 5;
/** A script without a free slot, a script with a free slot, and a script that has only waiting runs. */
const scripts = [1, 2, 3] as const;
const active = { 1: slots, 2: slots - 1, 3: 0 };

let platform: TestPlatform;
beforeAll(async () => {
  platform = await openTestPlatform();
  await platform.accepted(createGroup());
  for (const number of scripts) {
    const settings = { ...defaultSettings, maxConcurrentRuns: slots };
    await platform.accepted(createScript({ scriptId: scriptId(number), settings }));
    for (let run = 0; run < active[number]; run += 1) {
      const id = runId(number * 100 + run);
      await platform.accepted(runScript({ runId: id, scriptId: scriptId(number) }));
    }
  }
  await platform.pool.query(
    // Half of the runs may start only later.
    `WITH made AS (
        SELECT gen_random_uuid() AS id, script, n FROM unnest($1::uuid[]) AS script,
          generate_series(1, ${many}) n),
      queued AS (
        INSERT INTO run_queue (run_id, script_id, waiting, delayed, available_at, stream_version,
          priority, attempt, stop_requested)
        SELECT id, script, true, n % 2 = 0, now() + make_interval(secs => 3600 + n), 1, 0, 1, false
        FROM made ORDER BY n)
      INSERT INTO runs SELECT (jsonb_populate_record(r, jsonb_build_object('run_id', id,
        'script_id', script))).* FROM runs r, made WHERE r.run_id = $2`,
    [scripts.map((number) => scriptId(number)), runId(100)],
  );
});
afterAll(() => platform.close());

/** The number of rows of queue and runs that are read. */
const lookedAt = (look: (db: ReadModels) => Promise<unknown>) =>
  rowsSeen(platform.reads, ['run_queue', 'runs'], look);

test('the releasable runs are the first waiting runs of each script with a free slot', async () => {
  const found = await releasableRuns(platform.reads, 100);
  const counted = Map.groupBy(found, (run) => run.script_id);
  expect(counted.get(scriptId(1))).toBeUndefined();
  expect(counted.get(scriptId(2))).toHaveLength(1);
  expect(counted.get(scriptId(3))).toHaveLength(slots);
});

test.each(['before the planner has statistics about the runs', 'afterwards'])(
  'a release and an admission read few rows, %s',
  async (when) => {
    if (when === 'afterwards') {
      await withClient(platform.adminUrl, (client) => client.query('VACUUM ANALYZE'));
    }
    expect(await lookedAt((db) => releasableRuns(db, 100))).toBeLessThan(100);
    expect(await lookedAt((db) => decisionReads(db).script(scriptId(3)))).toBeLessThan(100);
  },
);
