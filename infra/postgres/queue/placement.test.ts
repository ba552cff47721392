/** Claims by runtimes with labels. */
import type { RunId } from '#domain/kernel/ids.ts';
import { defaultSettings } from '#domain/script/settings.ts';
import { createGroup, createScript, runScript } from '#domain/testing/samples.ts';
import { runId, scriptId } from '#domain/testing/ids.ts';
import { openTestPlatform, type TestPlatform } from '#infra/testing/platform.ts';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { PostgresRunQueue } from './run-queue.ts';

let platform: TestPlatform;
let queue: PostgresRunQueue;
beforeAll(async () => {
  platform = await openTestPlatform();
  queue = new PostgresRunQueue(platform.pool);
  await platform.accepted(createGroup());
});
afterAll(() => platform.close());

let made = 0;
beforeEach(async () => {
  await platform.pool.query('DELETE FROM run_queue');
});

/** Queues a run of a new script. */
async function queued(settings: Partial<typeof defaultSettings>): Promise<RunId> {
  made += 1;
  await platform.accepted(
    createScript({
      scriptId: scriptId(made),
      name: `Script ${made}`,
      settings: { ...defaultSettings, ...settings },
    }),
  );
  await platform.accepted(runScript({ runId: runId(made), scriptId: scriptId(made) }));
  return runId(made);
}

const claimed = async (labels: readonly string[] = [], owner = 'a') =>
  (await queue.claim(owner, 10, 60, labels)).map((one) => one.runId);

describe('a claim by a runtime with labels', () => {
  test('gets only runs whose labels the runtime has', async () => {
    const gpu = await queued({ runsOn: ['gpu'] });
    const both = await queued({ runsOn: ['zone-b', 'gpu'] });
    const plain = await queued({});
    expect(await claimed(['zone-b'])).toEqual([plain]);
    expect(await claimed()).toEqual([]);
    expect(await claimed(['gpu'])).toEqual([gpu]);
    expect(await claimed(['other', 'gpu', 'zone-b'])).toEqual([both]);
  });

  test('keeps the labels of the run if the script changes', async () => {
    const gpu = await queued({ runsOn: ['gpu'] });
    await platform.accepted({
      type: 'ChangeScript',
      scriptId: scriptId(made),
      settings: { runsOn: [] },
    });
    expect(await claimed()).toEqual([]);
    expect(await claimed(['gpu'])).toEqual([gpu]);
  });
});
