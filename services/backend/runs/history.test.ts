import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { finishRun, run, script, startRun } from '../testing/people.ts';
import { startTestBackend, type TestBackend } from '../testing/test-backend.ts';

let platform: TestBackend;
beforeAll(async () => {
  platform = await startTestBackend();
});
afterAll(() => platform.close());

const get = async (path: string) => (await platform.admin.get(`/api/v1/runs/${path}`)).json;

describe('a finished run', () => {
  test('lists its events in order', async () => {
    const { id } = await script(platform.admin);
    const runId = await run(platform.admin, id);
    await finishRun(platform, runId, await startRun(platform, runId));
    const { items } = await get(`${runId}/events`);
    expect(items.map((one: { type: string }) => one.type)).toEqual([
      'RunQueued',
      'RunStarted',
      'RunFinished',
    ]);
    expect(items[0]).toMatchObject({
      stream: `run-${runId}`,
      version: 1,
      actor: 'admin@example.com',
      data: { scriptId: id },
    });
  });

  test('lists the decisions about it with their reasons', async () => {
    const { id } = await script(platform.admin);
    const first = await run(platform.admin, id);
    const waiting = await run(platform.admin, id, { when_busy: 'queue' });
    await finishRun(platform, first, await startRun(platform, first));
    await platform.admin.post(`/api/v1/runs/${waiting}/stop`);
    const decisions = (answer: { items: { decision: string; reason: string }[] }) =>
      answer.items.map(({ decision, reason }) => [decision, reason]);
    expect(decisions(await get(`${first}/why`))).toEqual([
      ['queued', 'admin@example.com started the run (trigger manual) at version 1.'],
      ['started', 'Runtime runtime-1 started the run.'],
      ['ended', 'The script exited with exit code 0.'],
    ]);
    expect(decisions(await get(`${waiting}/why`))).toEqual([
      ['held', expect.stringMatching('no free slot')],
      ['ended', 'The run was stopped (reported by admin@example.com).'],
    ]);
  });
});
