import type { Command } from '#domain/aggregates.ts';
import type { GroupId } from '#domain/kernel/ids.ts';
import { noTotals } from '#domain/run/run.ts';
import { defaultSettings } from '#domain/script/settings.ts';
import { groupId, runId, scriptId } from '#domain/testing/ids.ts';
import { at, beginning, recordAll } from '#domain/testing/recorded.ts';
import { createScript, finishRun, runScript } from '#domain/testing/samples.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { applyAll } from '../projection.ts';
import { openTestReads, type TestReads } from '../testing/delivery.ts';
import { runFiguresProjection } from './apply.ts';
import { quantile } from './histogram.ts';
import { activeNow, figuresByTime, figuresOfDay } from './queries.ts';

const begun = (number: number, script: number): readonly Command[] => [
  runScript({ runId: runId(number), scriptId: scriptId(script) }),
  { type: 'StartRun', runId: runId(number), runtimeId: 'a', layers: [] },
];
const totals = {
  ...noTotals,
  durationMs: 1000,
  cpuSeconds: 0.25,
  maxMemoryBytes: 3_000_000_000,
};

/** In group 1, three runs have ended, and one of them never started. In group 2, one run has ended, one is running
 *  and one is waiting. All events are recorded within one minute, one second apart. */
const history: readonly Command[] = [
  ...beginning,
  createScript({
    scriptId: scriptId(2),
    groupId: groupId(2),
    settings: { ...defaultSettings, maxConcurrentRuns: 9 },
  }),
  ...begun(1, 1),
  finishRun({ runId: runId(1), totals }),
  ...begun(2, 1),
  finishRun({ runId: runId(2), outcome: 'timeout', totals: { ...totals, durationMs: 4000 } }),
  runScript({ runId: runId(3) }),
  { type: 'StopRun', runId: runId(3) },
  ...begun(4, 2),
  finishRun({ runId: runId(4), outcome: 'runtime_lost', exitCode: null, totals: noTotals }),
  ...begun(5, 2),
  runScript({ runId: runId(6), scriptId: scriptId(2) }),
];
const soon = at(100);

let reads: TestReads;
beforeAll(async () => {
  reads = await openTestReads();
  const events = await recordAll(history);
  const handled = events.filter((event) => runFiguresProjection.handles.includes(event.type));
  for (const event of handled) await applyAll([runFiguresProjection], reads.db, [event]);
});
afterAll(() => reads.close());

const day = (groups: readonly GroupId[] | null, now = soon) => figuresOfDay(reads.db, groups, now);

describe('finished runs', () => {
  test('are counted if they ended within the last day', async () => {
    const figures = await day(null);
    expect(figures).toMatchObject({ success: 1, failed: 2, stopped: 1 });
    expect(figures).toMatchObject({ cpu_ms: 500, max_memory_bytes: 3_000_000_000 });
    expect(quantile(figures.durations, 0.5)).toBeCloseTo(1000, -2);
    expect(quantile(figures.durations, 1)).toBeCloseTo(4000, -3);
    expect(quantile(figures.waits, 1)).toBeCloseTo(1000, -2);
  });

  test('are counted only if they belong to the requested groups', async () => {
    expect(await day([groupId(1)])).toMatchObject({ success: 1, failed: 1, stopped: 1 });
    expect(await day([groupId(2)])).toMatchObject({ success: 0, failed: 1, stopped: 0 });
    expect(await day([groupId(1), groupId(2)])).toEqual(await day(null));
    expect(await day([])).toMatchObject({ success: 0, failed: 0, stopped: 0 });
  });

  test('are not counted if they ended more than a day ago', async () => {
    const hours = (count: number) => new Date(soon.getTime() + count * 3_600_000);
    expect(await day(null, hours(23))).toEqual(await day(null));
    expect(await day(null, hours(25))).toMatchObject({ success: 0, failed: 0, stopped: 0 });
  });

  test('are counted without duration and queue wait if they never started', async () => {
    const { durations, waits } = await day([groupId(1)]);
    const counts = [durations, waits].map((one) => Object.values(one).reduce((a, b) => a + b, 0));
    expect(counts).toEqual([2, 2]);
  });

  test.each([60, 300, 900, 3600, 21_600, 86_400] as const)(
    'are counted exactly once in buckets of %i seconds',
    async (length) => {
      const wanted = { from: at(-200_000), to: soon, length };
      const buckets = await figuresByTime(reads.db, null, wanted);
      expect(buckets).toHaveLength(
        Math.floor(soon.getTime() / 1000 / length) -
          Math.floor(at(-200_000).getTime() / 1000 / length) +
          1,
      );
      const ended = buckets.filter(([, { success, failed }]) => success + failed > 0);
      expect(ended.map(([begin]) => begin)).toEqual([at(0)]);
      expect(ended[0]?.[1]).toMatchObject({ success: 1, failed: 2, stopped: 1 });
    },
  );
});

test('unfinished runs are counted as either waiting or running', async () => {
  expect(await activeNow(reads.db, null)).toEqual({ queued: 1, running: 1 });
  expect(await activeNow(reads.db, [groupId(2)])).toEqual({ queued: 1, running: 1 });
  expect(await activeNow(reads.db, [groupId(1)])).toEqual({ queued: 0, running: 0 });
});
