import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { finishRun, groups, run, schedule, script, someone, startRun } from '../testing/people.ts';
import { startTestBackend, type TestBackend } from '../testing/test-backend.ts';
import type { TestClient } from '../testing/test-client.ts';

const now = new Date('2026-03-28T22:20:00.000Z');
const present = '/api/v1/dashboard/now';
const fires = '/api/v1/dashboard/fires';

let platform: TestBackend;
let viewer: TestClient;
let outsider: TestClient;

async function ended(client: TestClient, id: string, outcome: 'success' | 'exit_code') {
  const runId = await run(client, id);
  await finishRun(platform, runId, await startRun(platform, runId), outcome);
  return runId;
}

beforeAll(async () => {
  platform = await startTestBackend({ clock: { now: () => now } });
  viewer = await someone(platform, { role: 'viewer', groupIds: [groups.custom] });
  outsider = await someone(platform, { role: 'viewer', groupIds: [groups.monitoring] });
});
afterAll(() => platform.close());

describe('failing, running and due scripts of two groups', () => {
  let failing: string;
  let failed: string;
  let busy: string;
  let runs: string;
  let due: string;

  beforeAll(async () => {
    const { admin } = platform;
    ({ id: failing } = await script(admin, { name: 'Fails' }));
    await ended(admin, failing, 'success');
    failed = await ended(admin, failing, 'exit_code');
    // The last run of this script succeeded after a failure.
    const { id: well } = await script(admin, { name: 'Got well' });
    await ended(admin, well, 'exit_code');
    await ended(admin, well, 'success');
    const { id: off } = await script(admin, { name: 'Off' });
    await ended(admin, off, 'exit_code');
    await schedule(admin, off);
    await admin.post(`/api/v1/scripts/${off}/disable`);

    ({ id: busy } = await script(admin, { name: 'Runs', group_id: groups.bots }));
    await ended(admin, busy, 'success');
    runs = await run(admin, busy);
    await startRun(platform, runs);
    await schedule(admin, busy, { interval_seconds: 600 });
    due = await schedule(admin, failing, { cron: '30 2 * * *', timezone: 'Europe/Berlin' });
    await schedule(admin, failing, { cron: '0 12 1 1 *' });
  });

  test('are counted across groups for an administrator', async () => {
    const { json } = await platform.admin.get(present);
    expect(json).toMatchObject({
      failing_total: 1,
      failing: [
        { script_id: failing, script_name: 'Fails', run_id: failed, failure_reason: 'exit_code' },
      ],
      running: [
        {
          script_id: busy,
          script_name: 'Runs',
          run_id: runs,
          usual: { runs: 1, p50_ms: 12, p95_ms: 12 },
        },
      ],
    });
    expect(json.due.map((one: { script_name: string }) => one.script_name)).toEqual([
      'Runs',
      'Fails',
      'Fails',
    ]);
    expect(json.due[1]).toEqual({
      script_id: failing,
      script_name: 'Fails',
      schedule_id: due,
      due_at: '2026-03-29T01:30:00.000Z',
    });
    const first = (await platform.admin.get(`${present}?limit=1`)).json;
    expect(first.due).toEqual([json.due[0]]);
  });

  test("are counted only in the caller's group", async () => {
    const { json } = await viewer.get(present);
    expect(json).toMatchObject({ failing_total: 1, running: [] });
    expect(json.due.map((one: { schedule_id: string }) => one.schedule_id)).toContain(due);
    expect(json.due).toHaveLength(2);
    const nothing = { failing_total: 0, failing: [], running: [], due: [] };
    expect((await outsider.get(present)).json).toEqual(nothing);
  });

  test('have their due times for the next day counted by hour', async () => {
    const day = (await platform.admin.get(fires)).json;
    expect(day).toMatchObject({
      from: '2026-03-28T22:20:00.000Z',
      to: '2026-03-29T22:20:00.000Z',
      counted_until: '2026-03-29T22:20:00.000Z',
    });
    const hours: { begins_at: string; due: number }[] = day.hours;
    expect(hours).toHaveLength(25);
    // One schedule is due every ten minutes. Another is due once, at a local time that the clock change in Berlin
    // skips.
    expect(hours.reduce((sum, { due: count }) => sum + count, 0)).toBe(143 + 1);
    expect(hours[0]).toEqual({ begins_at: '2026-03-28T22:20:00.000Z', due: 3 });
    expect(hours[3]).toEqual({ begins_at: '2026-03-29T01:00:00.000Z', due: 7 });

    const own: { due: number }[] = (await viewer.get(fires)).json.hours;
    expect(own.flatMap(({ due: count }, hour) => (count > 0 ? [[hour, count]] : []))).toEqual([
      [3, 1],
    ]);
  });

  test('have their due times counted only up to a reported time when there are too many', async () => {
    const { id } = await script(platform.admin, { group_id: groups.monitoring });
    await schedule(platform.admin, id, { cron: '*/2 * * * * *' });
    const day = (await outsider.get(fires)).json;
    expect(day).toMatchObject({ counted_until: '2026-03-28T23:00:00.000Z' });
    expect(day.hours).toEqual([{ begins_at: '2026-03-28T22:20:00.000Z', due: 1199 }]);
  });
});
