import { groupId, runId, scriptId } from '#domain/testing/ids.ts';
import { createGroup, createScript, finishRun, runScript } from '#domain/testing/samples.ts';
import type { Command } from '#domain/aggregates.ts';
import { noTotals } from '#domain/run/run.ts';
import { defaultSettings } from '#domain/script/settings.ts';
import {
  recordedBy,
  openTestPlatform,
  userContext,
  type TestPlatform,
} from '#infra/testing/platform.ts';
import { Registry } from 'prom-client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { addRunEndMetric } from './process-metrics.ts';
import { RunEnds } from './run-ends.ts';

let platform: TestPlatform;
beforeAll(async () => {
  platform = await openTestPlatform();
});
afterAll(async () => {
  await platform.close();
});

/** Simulates a process that executes commands and serves metrics. */
function startProcess() {
  const registry = new Registry();
  const ends = new RunEnds(platform.pool);
  addRunEndMetric(registry, ends);
  const commands = platform.pipeline({ announce: (events) => ends.recorded(events) });
  return {
    execute: async (command: Command) => recordedBy(await commands.execute(command, userContext())),
    /** Returns the time series whose value is not zero. */
    counts: async () =>
      (await registry.metrics())
        .split('\n')
        .filter(
          (line) => line.startsWith('orchestrator_runs_finished_total') && !line.endsWith(' 0'),
        ),
    page: () => registry.metrics(),
  };
}

test('each run end is counted once, by the process that recorded it', async () => {
  const [backend, scheduler, runtime] = [startProcess(), startProcess(), startProcess()];
  await platform.accepted(createGroup());
  const settings = { ...defaultSettings, maxConcurrentRuns: 10 };
  await platform.accepted(createScript({ settings }));
  for (const number of [1, 2, 3]) await platform.accepted(runScript({ runId: runId(number) }));
  await runtime.execute({ type: 'StartRun', runId: runId(1), runtimeId: 'a', layers: [] });

  const finish = finishRun({ runId: runId(1), outcome: 'exit_code', exitCode: 1, fence: 2 });
  expect(await runtime.execute(finish)).toHaveLength(1);
  // Reporting the same end again records no event.
  expect(await runtime.execute(finish)).toEqual([]);
  await backend.execute({ type: 'StopRun', runId: runId(2) });
  await scheduler.execute({
    type: 'AbandonRun',
    runId: runId(3),
    failure: 'expired',
    totals: noTotals,
  });

  const series = (outcome: string) =>
    `orchestrator_runs_finished_total{outcome="${outcome}",trigger="manual"} 1`;
  expect(await runtime.counts()).toEqual([series('exit_code')]);
  expect(await backend.counts()).toEqual([series('stopped')]);
  expect(await scheduler.counts()).toEqual([series('expired')]);
  // A second scrape does not count the same ends again.
  expect(await scheduler.counts()).toEqual([series('expired')]);
  expect(await backend.page()).toContain('outcome="success",trigger="schedule"} 0');
});

test('run ends are counted at a later scrape if the database was unavailable', async () => {
  let isAway = true;
  const registry = new Registry();
  const ends = new RunEnds({
    query: (text, values) =>
      isAway ? Promise.reject(new Error('away')) : platform.pool.query(text, values as unknown[]),
  });
  addRunEndMetric(registry, ends);
  const commands = platform.pipeline({ announce: (events) => ends.recorded(events) });
  await platform.accepted(
    createScript({ scriptId: scriptId(2), groupId: groupId(), name: 'Other' }),
  );
  await platform.accepted(runScript({ scriptId: scriptId(2), runId: runId(9) }));
  await commands.execute({ type: 'StopRun', runId: runId(9) }, userContext());
  const stopped = 'outcome="stopped",trigger="manual"}';
  expect(await registry.metrics()).toContain(`${stopped} 0`);
  isAway = false;
  expect(await registry.metrics()).toContain(`${stopped} 1`);
});
