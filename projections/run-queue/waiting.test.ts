/** Tests that reading waiting runs is fast, regardless of their number. */
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
/** Three scripts: one without a free slot, one with a free slot, and one with only waiting runs. */
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
    // Half of the runs must not start before a later time.
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

/** Counts the rows that are read from the queue and from the runs. */
const lookedAt = (look: (db: ReadModels) => Promise<unknown>) =>
  rowsSeen(platform.reads, ['run_queue', 'runs'], look);

test('for each script with a free slot, the first waiting runs can be released', async () => {
  const found = await releasableRuns(platform.reads);
  const counted = Map.groupBy(found, (run) => run.script_id);
  expect(counted.get(scriptId(1))).toBeUndefined();
  expect(counted.get(scriptId(2))).toHaveLength(1);
  expect(counted.get(scriptId(3))).toHaveLength(slots);
});

test.each(['before the planner has statistics about the runs', 'after the planner has statistics'])(
  'releasing and admitting runs reads only a few rows, %s',
  async (when) => {
    if (when.startsWith('after ')) {
      await withClient(platform.adminUrl, (client) => client.query('VACUUM ANALYZE'));
    }
    expect(await lookedAt((db) => releasableRuns(db))).toBeLessThan(100);
    expect(await lookedAt((db) => decisionReads(db).script(scriptId(3)))).toBeLessThan(100);
  },
);
