import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { finishRun, groups, run, script, someone, startRun } from '../testing/people.ts';
import { startTestBackend, type TestBackend } from '../testing/test-backend.ts';
import type { TestClient } from '../testing/test-client.ts';

let platform: TestBackend;
let developer: TestClient;
beforeAll(async () => {
  platform = await startTestBackend();
  developer = await someone(platform, { role: 'developer', groupIds: [groups.custom] });
});
afterAll(() => platform.close());

const path = (id: string) => `/api/v1/scripts/${id}`;

describe('script settings', () => {
  test('have the requested values, and defaults for the rest', async () => {
    const made = await developer.post('/api/v1/scripts', {
      name: 'Bot',
      retry: { max_attempts: 3 },
      keep_alive: true,
      environment: { TZ: 'Europe/Berlin' },
      python: '3.12',
      start_mode: 'cold',
      listen_ports: [8000, 0],
      runs_on: ['gpu', 'zone-b'],
    });
    expect(made.json).toMatchObject({
      retry: { max_attempts: 3, backoff_seconds: 10, backoff_factor: 2, max_backoff_seconds: 3600 },
      keep_alive: true,
      environment: { TZ: 'Europe/Berlin' },
      python: '3.12',
      start_mode: 'cold',
      runs_on: ['gpu', 'zone-b'],
      listen_ports: [8000, 0],
    });
    const plain = await developer.get(path((await script(developer)).id));
    expect(plain.json).toMatchObject({
      retry: { max_attempts: 1 },
      keep_alive: false,
      merge_stderr: false,
      environment: {},
      python: null,
      start_mode: 'warm',
      runs_on: [],
      listen_ports: [],
      limits: { queue_seconds: 86_400 },
    });
  });

  test('merge changes to the settings of resident processes', async () => {
    const { id } = await script(developer, { start_mode: 'resident', resident: { processes: 2 } });
    const changed = await developer.patch(path(id), { resident: { idle_seconds: 60 } });
    expect(changed.json).toMatchObject({
      start_mode: 'resident',
      resident: { idle_seconds: 60, max_runs: 1000, processes: 2 },
    });
  });

  test('include expectations, which are initially met', async () => {
    const expectations = [
      { kind: 'finish_by', cron: '0 7 * * *', timezone: 'Europe/Berlin' },
      { kind: 'longer_than', factor: 2 },
    ];
    const { id } = await script(developer, { expectations });
    const viewer = await someone(platform, { role: 'viewer', groupIds: [groups.custom] });
    expect((await viewer.get(`${path(id)}/expectations`)).json).toEqual({
      items: expectations.map((expectation) => ({ expectation, missed: [] })),
    });
    const changed = await developer.patch(path(id), { expectations: [] });
    expect(changed.json.expectations).toEqual([]);
    const outsider = await someone(platform, { role: 'developer', groupIds: [] });
    expect((await outsider.get(`${path(id)}/expectations`)).status).toBe(404);
  });

  test('may refer only to existing pools', async () => {
    const { status, json } = await platform.admin.post('/api/v1/pools', { name: 'db', limit: 2 });
    expect([status, json]).toEqual([
      201,
      { id: expect.any(String), name: 'db', limit: 2, active_runs: 0, waiting_runs: 0 },
    ]);
    const { id } = await script(developer, { pools: ['db'] });
    const runId = await run(developer, id);
    expect((await developer.get(`/api/v1/pools/${json.id}`)).json.waiting_runs).toBe(1);
    await developer.post(`/api/v1/runs/${runId}/stop`);
    expect((await developer.patch(path(id), { pools: ['typo'] })).json.detail).toContain('"typo"');
    const pool = `/api/v1/pools/${json.id}`;
    expect((await platform.admin.patch(pool, { limit: 0 })).json.limit).toBe(0);
    expect((await platform.admin.delete(pool)).json.code).toBe('pool_in_use');
    expect((await developer.patch(pool, { limit: 1 })).status).toBe(403);
    await developer.patch(path(id), { pools: [] });
    expect((await platform.admin.delete(pool)).status).toBe(204);
    expect((await developer.get('/api/v1/pools')).json).toEqual({ items: [] });
  });

  test('are merged field by field', async () => {
    const { id } = await script(developer, { environment: { A: '1', B: '2' } });
    const changed = await developer.patch(path(id), {
      environment: { B: null, C: '3' },
      retry: { backoff_factor: 1.5 },
    });
    expect(changed.json).toMatchObject({
      environment: { A: '1', C: '3' },
      retry: { max_attempts: 1, backoff_factor: 1.5 },
      version: 2,
    });
    expect(changed.json.environment).not.toHaveProperty('B');
  });

  test.each([
    [{ environment: { PATH: '/tmp' } }],
    [{ environment: { PYTHONPATH: '/tmp' } }],
    [{ environment: { LD_PRELOAD: 'x' } }],
    [{ environment: { ORCH_RUN_ID: 'x' } }],
    [{ environment: { 'A=B': 'x' } }],
    [{ environment: { A: 7 } }],
    [{ python: '2.7' }],
    [{ python: '3.x' }],
    [{ retry: { max_attempts: 0 } }],
    [{ retry: { backoff_factor: 0.5 } }],
    [{ keep_alive: 'yes' }],
    [{ runs_on: ['g pu'] }],
    [{ runs_on: ['gpu', 'gpu'] }],
    [{ runs_on: 'gpu' }],
    [{ expectations: [{ kind: 'finish_by', cron: 'daily', timezone: 'UTC' }] }],
    [{ expectations: [{ kind: 'success_within', seconds: 1 }] }],
    [{ expectations: [{ kind: 'other' }] }],
    [{ start_mode: 'hot' }],
    [{ resident: { processes: 0 } }],
    [{ resident: { idle_seconds: 86_401 } }],
    [{ resident: { other: 1 } }],
    [{ listen_ports: [80] }],
    [{ listen_ports: ['8000'] }],
    [{ listen_ports: [65_536] }],
    [{ listen_ports: [8000, 8000] }],
    [{ listen_ports: Array.from({ length: 17 }, (_, index) => 8000 + index) }],
    [{ entrypoint: '-c' }],
    [{ entrypoint: 'nb.ipynb' }],
  ])('cannot be %j', async (body) => {
    const { id } = await script(developer);
    const changed = await developer.patch(path(id), body);
    expect([changed.status, changed.json.code]).toEqual([422, 'validation_failed']);
    expect(changed.json.errors[0].pointer).toMatch(`/${Object.keys(body)[0]}`);
    const made = await developer.post('/api/v1/scripts', { name: 'x', ...body });
    expect(made.status).toBe(422);
  });

  test.each([
    [{ kind: 'success_within', seconds: 1 }, '/seconds', /must be >= 60/],
    [{ kind: 'finish_by', cron: '0 7 * * *' }, '/timezone', /is required/],
    [{ kind: 'longer_than', factor: 2, other: 1 }, '/other', /is unknown/],
  ])('are refused, with a reason, for the expectation %j', async (expectation, pointer, detail) => {
    const { id } = await script(developer);
    const changed = await developer.patch(path(id), { expectations: [expectation] });
    expect(changed.json.errors).toEqual([
      { pointer: `/expectations/0${pointer}`, detail: expect.stringMatching(detail) as string },
    ]);
  });
});

describe('a run', () => {
  test('keeps the variables, the interpreter and the listen ports of its version', async () => {
    const { id } = await script(developer, {
      environment: { A: '1' },
      python: '3.11',
      listen_ports: [8000],
    });
    const runId = await run(developer, id);
    await finishRun(platform, runId, await startRun(platform, runId));
    await developer.patch(path(id), { environment: { A: '2' }, python: null, listen_ports: [] });
    const again = await developer.post(`/api/v1/runs/${runId}/rerun`, { version: 'same' });
    await finishRun(platform, again.json.id, await startRun(platform, again.json.id));
    const latest = await developer.post(`/api/v1/runs/${runId}/rerun`, { version: 'latest' });
    const { rows } = await platform.pool.query(
      'SELECT environment, python, listen_ports FROM runs WHERE script_id = $1 ORDER BY run_id',
      [id],
    );
    const first = { environment: { A: '1' }, python: '3.11', listen_ports: [8000] };
    const last = { environment: { A: '2' }, python: null, listen_ports: [] };
    expect(rows).toEqual([first, first, last]);
    expect(latest.json.script_version).toBe(2);
  });
});

describe('a rebuilt environment', () => {
  const resolution = async (id: string) => {
    const { rows } = await platform.pool.query<{ resolution: string | null }>(
      'SELECT resolution FROM scripts WHERE script_id = $1',
      [id],
    );
    return rows[0]?.resolution;
  };

  test('is resolved again, as a new version of the script', async () => {
    const { id } = await script(developer);
    expect(await resolution(id)).toBeNull();
    const rebuilt = await developer.post(`${path(id)}/environment/rebuild`);
    expect([rebuilt.status, rebuilt.json.version]).toEqual([200, 2]);
    const first = await resolution(id);
    await developer.post(`${path(id)}/environment/rebuild`);
    expect(await resolution(id)).not.toBe(first);
  });

  test('is resolved only once if an idempotency key is repeated', async () => {
    const { id } = await script(developer);
    const key = { headers: { 'Idempotency-Key': `rebuild-${id}` } };
    await developer.post(`${path(id)}/environment/rebuild`, undefined, key);
    await platform.pool.query('DELETE FROM idempotency_answers');
    await developer.post(`${path(id)}/environment/rebuild`, undefined, key);
    expect((await developer.get(path(id))).json.version).toBe(2);
  });
});
