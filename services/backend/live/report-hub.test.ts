import { saveProgress } from '#infra/postgres/logs/run-reports.ts';
import { saveSpans } from '#infra/postgres/logs/run-spans.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { FrameLog } from '../testing/frame-log.ts';
import { run, script, startRun, writeLines } from '../testing/people.ts';
import { startTestBackend, type TestBackend } from '../testing/test-backend.ts';

let platform: TestBackend;
beforeAll(async () => {
  platform = await startTestBackend();
});
afterAll(() => platform.close());

/** Creates a running run, and a socket that follows the run and has received its log. */
async function followed() {
  const developer = platform.admin;
  const runId = await run(developer, (await script(developer)).id);
  await startRun(platform, runId);
  await writeLines(platform, runId, 1, ['hello']);
  const address = `${platform.origin.replace('http', 'ws')}/ws/runs/${runId}`;
  const frames = new FrameLog(
    new WebSocket(address, ['orch.v1', `orch.bearer.${developer.token}`]),
  );
  await frames.until((all) => all.seqs.length === 1);
  return { runId, frames };
}

describe('a followed run', () => {
  test('sends each progress report, even if every bus message is lost', async () => {
    const { runId, frames } = await followed();
    const { database } = platform.services;
    const shows = (fraction: number) =>
      frames.until((all) => all.frames.some((one) => one.progress?.fraction === fraction));
    await saveProgress(database, runId, { fraction: 0.25, text: 'page 1' });
    platform.bus.publish({ topic: 'progress', runId });
    await shows(0.25);
    await saveProgress(database, runId, { fraction: 0.5, text: 'page 2' });
    await shows(0.5);
    const last = frames.frames.findLast((one) => one.type === 'progress');
    const { progress } = (await platform.admin.get(`/api/v1/runs/${runId}`)).json;
    expect(last).toEqual({ type: 'progress', progress });
    expect(progress.eta).toEqual(expect.any(String));
  });

  test('sends each span when it starts and when it ends', async () => {
    const { runId, frames } = await followed();
    const { database } = platform.services;
    const span = { spanId: '000000000000000a', parentId: null, name: 'fetch', failed: false };
    const fetch = { ...span, startedAt: new Date(0), endedAt: null, attributes: {} };
    const statuses = () => frames.frames.flatMap((one) => one.span?.status ?? []);
    await saveSpans(database, runId, [fetch]);
    platform.bus.publish({ topic: 'spans', runId });
    await frames.until(() => statuses().length === 1);
    await saveSpans(database, runId, [{ ...fetch, endedAt: new Date(5) }]);
    await frames.until(() => statuses().length === 2);
    expect(statuses()).toEqual(['running', 'ok']);
  });
});
