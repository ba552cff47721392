import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { groups, run, script, someone } from '../testing/people.ts';
import { startTestBackend, type TestBackend } from '../testing/test-backend.ts';
import type { TestClient } from '../testing/test-client.ts';

let platform: TestBackend;
let developer: TestClient;
let runId: string;
beforeAll(async () => {
  platform = await startTestBackend();
  developer = await someone(platform, { role: 'developer', groupIds: [groups.custom] });
  runId = await run(developer, (await script(developer)).id);
});
afterAll(() => platform.close());

describe('the samples of a run', () => {
  test('are empty without measurements', async () => {
    const answer = await developer.get(`/api/v1/runs/${runId}/samples`);
    expect([answer.status, answer.json]).toEqual([200, { items: [] }]);
  });

  test('are listed in order of time', async () => {
    const timeMs = Date.parse('2026-11-21T02:31:00.000Z');
    const usage = { cpuSeconds: 0.5, memoryBytes: 1024, threads: 2, processes: 1 };
    await platform.services.runSamples.save([
      { runId, place: 0, points: [{ timeMs, ...usage }] },
      { runId, place: 1, points: [{ timeMs: timeMs + 1000, ...usage, threads: 3 }] },
    ]);
    const shown = { cpu_seconds: 0.5, memory_bytes: 1024, processes: 1 };
    expect((await developer.get(`/api/v1/runs/${runId}/samples`)).json).toEqual({
      items: [
        { time: '2026-11-21T02:31:00.000Z', ...shown, threads: 2 },
        { time: '2026-11-21T02:31:01.000Z', ...shown, threads: 3 },
      ],
    });
  });

  test('do not exist for a user of another group', async () => {
    const other = await someone(platform, { role: 'viewer', groupIds: [groups.bots] });
    expect((await other.get(`/api/v1/runs/${runId}/samples`)).status).toBe(404);
  });
});
