import { createGroup, finishRun } from '#domain/testing/samples.ts';
import { mustParse, parseRunId } from '#domain/kernel/ids.ts';
import { saveOutput } from '#infra/postgres/logs/run-reports.ts';
import { systemIds } from '#infra/system/ids.ts';
import { openTestPlatform, type TestPlatform } from '#infra/testing/platform.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { checkRuns, removeCheck, type SelfCheckDeps } from './self-check.ts';

const wanted = { updateId: '019aa3f4-01aa-7c11-8d22-5e6f70819203', challenge: 'a challenge' };
let platform: TestPlatform;
let stored: string[];
let deps: SelfCheckDeps;
beforeAll(async () => {
  platform = await openTestPlatform();
  await platform.accepted(createGroup());
  stored = [];
  const putStream: SelfCheckDeps['objects']['putStream'] = async (_, chunks) => {
    for await (const chunk of chunks) stored.push(Buffer.from(chunk).toString());
    return 0;
  };
  deps = {
    commands: platform.commands,
    database: platform.pool,
    ids: systemIds,
    objects: { putStream },
  };
});
afterAll(() => platform.close());

const scripts = async () =>
  (await platform.pool.query<{ name: string }>('SELECT name FROM scripts WHERE NOT deleted')).rows;

test('the self-check runs its script once, reports the progress of the run, and then purges the script', async () => {
  const queued = await checkRuns(wanted, deps);
  expect(queued).toMatchObject({ status: 'queued', answer: null, others: { started: 0 } });
  expect(await checkRuns(wanted, deps)).toEqual(queued);
  expect(stored).toHaveLength(1);
  expect(stored[0]).toContain('"a challenge"');

  const own = mustParse(parseRunId, systemIds.derived(wanted.updateId, 'self-check run'));
  const start = { type: 'StartRun', runtimeId: 'runtime-1', layers: [] } as const;
  await platform.accepted({ ...start, runId: own });
  await saveOutput(platform.pool, own, '"the answer"');
  await platform.accepted(finishRun({ runId: own }));
  expect(await checkRuns(wanted, deps)).toMatchObject({
    status: 'success',
    answer: 'the answer',
    failure: null,
  });

  await removeCheck(wanted.updateId, deps);
  expect(await scripts()).toEqual([]);
  await removeCheck(wanted.updateId, deps);
});
