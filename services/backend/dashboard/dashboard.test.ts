import { Projector } from '#infra/postgres/readers/projector.ts';
import { reportRuntime } from '#infra/postgres/queue/runtimes.ts';
import { eventsVisible } from '#infra/testing/platform.ts';
import { runFiguresProjection } from '#projections/figures/apply.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { finishRun, groups, run, script, someone, startRun } from '../testing/people.ts';
import { startTestBackend, type TestBackend } from '../testing/test-backend.ts';
import type { TestClient } from '../testing/test-client.ts';

let platform: TestBackend;
let viewer: TestClient;
let outsider: TestClient;

/** One group has a script with a finished and a waiting run. Another group has a disabled script. */
beforeAll(async () => {
  platform = await startTestBackend();
  const { admin, pool } = platform;
  viewer = await someone(platform, { role: 'viewer', groupIds: [groups.custom] });
  outsider = await someone(platform, { role: 'viewer', groupIds: [groups.monitoring] });
  const { id } = await script(admin);
  const ended = await run(admin, id);
  await finishRun(platform, ended, await startRun(platform, ended));
  await run(admin, id);
  const { id: other } = await script(admin, { group_id: groups.bots });
  await admin.post(`/api/v1/scripts/${other}/disable`);
  await reportRuntime(pool, {
    runtime_id: 'runtime-1',
    started_at: new Date(),
    slots: 4,
    running: 1,
    layers: [],
    python: null,
    labels: [],
  });
  await eventsVisible(pool);
  await new Projector(pool, [runFiguresProjection]).runOnce(new AbortController().signal);
});
afterAll(() => platform.close());

const series = '/api/v1/dashboard/timeseries';

describe('runs of several groups', () => {
  test("are counted only in the caller's groups", async () => {
    const own = {
      scripts_total: 1,
      scripts_enabled: 1,
      runs_queued: 1,
      runs_running: 0,
      runs_24h: 1,
      success_rate_24h: 1,
      errors_24h: 0,
      duration_p50_ms_24h: 12,
      duration_p95_ms_24h: 12,
      queue_p95_ms_24h: expect.any(Number),
      runtimes: [expect.objectContaining({ id: 'runtime-1', slots: 4, running: 1 })],
    };
    expect((await viewer.get('/api/v1/dashboard/stats')).json).toEqual(own);
    const all = { ...own, scripts_total: 2 };
    expect((await platform.admin.get('/api/v1/dashboard/stats')).json).toEqual(all);
    expect((await outsider.get('/api/v1/dashboard/stats')).json).toMatchObject({
      scripts_total: 0,
      runs_queued: 0,
      runs_24h: 0,
      success_rate_24h: null,
      duration_p50_ms_24h: null,
    });
  });

  test.each([
    ['runs', ['success', 'failed', 'stopped'], [1, 0, 0]],
    ['errors', ['failed'], [0]],
    ['duration', ['p50', 'p95'], [12, 12]],
    ['cpu', ['cpu_seconds'], [0.01]],
    ['memory', ['max_bytes'], [1]],
  ])('have a %s series with a point for every bucket', async (metric, names, last) => {
    const { json } = await viewer.get(`${series}?metric=${metric}&bucket=3600`);
    const all: { name: string; points: [string, number | null][] }[] = json.series;
    expect(json.bucket_seconds).toBe(3600);
    expect(all.map(({ name }) => name)).toEqual(names);
    for (const { points } of all) expect(points).toHaveLength(25);
    // The run may have ended shortly before the current hour began.
    const sums = all.map(({ points }) =>
      Math.max(...points.slice(-2).map(([, value]) => value ?? 0)),
    );
    expect(sums).toEqual(last);
    const foreign = (await outsider.get(`${series}?metric=${metric}`)).json;
    const values = foreign.series.flatMap((one: { points: [string, unknown][] }) => one.points);
    expect(values.every(([, value]: [string, unknown]) => value === 0 || value === null)).toBe(
      true,
    );
  });

  test('are counted in buckets whose length depends on the time range', async () => {
    const lengthOf = async (query: string) => (await viewer.get(`${series}${query}`)).json;
    expect(await lengthOf('?metric=queue')).toMatchObject({ bucket_seconds: 900 });
    const to = '&to=2026-11-21T00:00:00Z';
    expect(await lengthOf(`?from=2026-11-20T23:00:00Z${to}`)).toMatchObject({ bucket_seconds: 60 });
    expect(await lengthOf(`?from=2026-09-21T00:00:00Z${to}`)).toMatchObject({
      bucket_seconds: 86_400,
    });
  });

  test.each([
    'from=2026-11-21T00:00:00Z&to=2026-11-21T00:00:00Z',
    'from=2026-01-01T00:00:00Z&to=2026-11-21T00:00:00Z&bucket=60',
    'from=0001-01-01T00:00:00Z',
    'bucket=61',
    'metric=weather',
    'from=yesterday',
  ])('cannot be counted with the invalid query %s', async (query) => {
    const answer = await viewer.get(`${series}?${query}`);
    expect([answer.status, answer.json.code]).toEqual([400, 'invalid_parameter']);
  });
});

describe('the overview on the first page', () => {
  const overview = async (client: TestClient) =>
    (await client.get('/api/v1/dashboard/overview?fires=false')).json;

  test("shows the finished runs and the health of the caller's scripts", async () => {
    const { runs, health, setup } = await overview(viewer);
    expect(runs).toEqual([expect.objectContaining({ status: 'success', duration_ms: 12 })]);
    expect(health.map((one: { recent_runs: object[] }) => one.recent_runs.length)).toEqual([2]);
    expect(setup).toBeNull();
    expect(await overview(outsider)).toMatchObject({ runs: [], health: [] });
  });

  test('shows administrators which setup steps are done', async () => {
    const { setup } = await overview(platform.admin);
    expect(setup).toEqual({ script: true, run: true, trigger: false, channel: false });
  });
});
