import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { finishRun, groups, nowhere, run, script, someone, startRun } from '../testing/people.ts';
import { startTestBackend, type TestBackend } from '../testing/test-backend.ts';
import type { TestClient } from '../testing/test-client.ts';

let platform: TestBackend;
let developer: TestClient;
beforeAll(async () => {
  platform = await startTestBackend();
  developer = await someone(platform, { role: 'developer', groupIds: [groups.custom] });
});
afterAll(() => platform.close());

const start = (id: string) => `/api/v1/runs/scripts/${id}/run`;

async function payloads(): Promise<number> {
  const { rows } = await platform.pool.query<{ count: number }>('SELECT count(*) FROM payloads');
  return rows[0]?.count ?? 0;
}

describe('a script', () => {
  test('queues a run with its parameters', async () => {
    const { id } = await script(developer);
    const queued = await developer.post(start(id), { params: { name: 'Ada' }, timeout_seconds: 9 });
    expect(queued.status).toBe(202);
    expect(queued.json).toMatchObject({
      script_id: id,
      script_version: 1,
      status: 'queued',
      trigger_type: 'manual',
      params: { name: 'Ada' },
      attempt: 1,
      started_at: null,
    });
    expect(queued.json.id).toBe(queued.json.run_id);
    expect(queued.headers.get('location')).toBe(`/api/v1/runs/${queued.json.run_id}`);
    const read = await developer.get(`/api/v1/runs/${queued.json.run_id}`);
    expect(read.json).toEqual(queued.json);
  });

  test('shows its last finished run', async () => {
    const { id } = await script(developer);
    const runId = await run(developer, id);
    await finishRun(platform, runId, await startRun(platform, runId));
    expect((await developer.get(`/api/v1/runs/${runId}`)).json).toMatchObject({
      status: 'success',
      exit_code: 0,
      duration_ms: 12,
      usage: { cpu_seconds: 0.01, max_memory_bytes: 1, max_threads: 1 },
      runtime_id: 'runtime-1',
    });
    const shown = await developer.get(`/api/v1/scripts/${id}`);
    expect(shown.json.last_run).toMatchObject({ run_id: runId, status: 'success' });
  });

  test('has the paths /run, /runs and /stop for its runs', async () => {
    const { id } = await script(developer);
    expect((await developer.post(`/api/v1/scripts/${id}/run`)).status).toBe(202);
    expect((await developer.get(`/api/v1/scripts/${id}/runs`)).json.items).toHaveLength(1);
    expect((await developer.post(`/api/v1/scripts/${id}/stop`, {})).status).toBe(202);
  });

  test('stores no part of parameters that are too large', async () => {
    const { id } = await script(developer);
    const before = await payloads();
    const answer = await developer.post(start(id), { params: { text: 'x'.repeat(65_536) } });
    expect([answer.status, answer.json.code]).toEqual([413, 'payload_too_large']);
    expect(await payloads()).toBe(before);
  });

  test('creates no run while it is disabled', async () => {
    const { id } = await script(developer);
    await developer.post(`/api/v1/scripts/${id}/disable`);
    const before = await payloads();
    const answer = await developer.post(start(id), { params: { unique: 'to this test' } });
    expect([answer.status, answer.json.code]).toEqual([409, 'script_disabled']);
    expect(await payloads()).toBe(before);
  });

  test('accepts exactly 3 of 50 concurrent run requests at a limit of 3', async () => {
    const { id } = await script(developer, { max_concurrent_runs: 3 });
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => developer.post(start(id), {})),
    );
    const codes = answers.map((one) => (one.status === 202 ? 'accepted' : one.json.code));
    expect(codes.filter((code) => code === 'accepted')).toHaveLength(3);
    expect(codes.filter((code) => code === 'concurrency_limit_reached')).toHaveLength(47);
    expect((await developer.get(`/api/v1/scripts/${id}/runs`)).json.items).toHaveLength(3);
  });

  test('creates only one run for requests with the same idempotency key', async () => {
    const { id } = await script(developer, { max_concurrent_runs: 9 });
    const key = { headers: { 'Idempotency-Key': 'run-1' } };
    const first = await developer.post(start(id), {}, key);
    expect((await developer.post(start(id), {}, key)).text).toBe(first.text);
    expect((await developer.get(`/api/v1/scripts/${id}/runs`)).json.items).toHaveLength(1);
    const other = await developer.post(start(id), { params: {} }, key);
    expect(other.json.code).toBe('idempotency_key_reused');
  });

  test('returns the same run for an idempotency key after the stored response is lost', async () => {
    const { id } = await script(developer, { max_concurrent_runs: 9 });
    const key = { headers: { 'Idempotency-Key': 'run-2' } };
    const first = await developer.post(start(id), {}, key);
    await platform.pool.query('DELETE FROM idempotency_answers');
    const again = await developer.post(start(id), {}, key);
    expect(again.json.run_id).toBe(first.json.run_id);
    await platform.pool.query('DELETE FROM idempotency_answers');
    const other = await developer.post(start(id), { timeout_seconds: 1 }, key);
    expect(other.json.code).toBe('idempotency_key_reused');
  });
});

describe('a script at its concurrency limit', () => {
  test('queues a run that may wait, and the queued run can be cancelled', async () => {
    const { id } = await script(developer);
    await run(developer, id);
    const refused = await developer.post(start(id), {});
    expect([refused.status, refused.json.code]).toEqual([409, 'concurrency_limit_reached']);
    const waiting = await developer.post(start(id), { when_busy: 'queue' });
    expect(waiting.json).toMatchObject({ status: 'queued', waiting: true });
    const stopped = await developer.post(`/api/v1/runs/${waiting.json.run_id}/stop`);
    expect(stopped.json.items).toMatchObject([{ status: 'stopped', waiting: false }]);
  });
});

describe('a finished run', () => {
  async function ended() {
    const { id } = await script(developer, { limits: { cpu_seconds: 7 } });
    const runId = await run(developer, id, { params: { n: 1 }, timeout_seconds: 9 });
    await finishRun(platform, runId, await startRun(platform, runId));
    await developer.patch(`/api/v1/scripts/${id}`, { limits: { cpu_seconds: 8 } });
    return { id, runId, path: `/api/v1/runs/${runId}/rerun` };
  }

  test('can be rerun with its version and settings', async () => {
    const { runId, path } = await ended();
    const again = await developer.post(path, { version: 'same' });
    expect(again.status).toBe(202);
    expect(again.json).toMatchObject({
      script_version: 1,
      trigger_type: 'rerun',
      trigger: { type: 'rerun', run_id: runId },
      params: { n: 1 },
      attempt: 1,
    });
    expect(again.headers.get('location')).toBe(`/api/v1/runs/${again.json.run_id}`);
    expect(await limitsOf(again.json.run_id)).toMatchObject({
      cpu_seconds: 7,
      wall_clock_seconds: 9,
    });
    const { items } = (await developer.get('/api/v1/runs?trigger_type=rerun')).json;
    expect(items.map((one: { id: string }) => one.id)).toContain(again.json.id);
  });

  test('can be rerun with the current version', async () => {
    const { path } = await ended();
    const again = await developer.post(path, { version: 'latest' });
    expect(again.json).toMatchObject({ script_version: 2, params: { n: 1 } });
    expect(await limitsOf(again.json.run_id)).toMatchObject({ cpu_seconds: 8 });
  });

  test('is rerun only once if an idempotency key is repeated', async () => {
    const { id, path } = await ended();
    const key = { headers: { 'Idempotency-Key': `rerun ${id}`.replace(' ', '-') } };
    const first = await developer.post(path, { version: 'same' }, key);
    expect((await developer.post(path, { version: 'same' }, key)).text).toBe(first.text);
    const over = await developer.post(path, { version: 'same' });
    expect(over.json.code).toBe('concurrency_limit_reached');
    const waiting = await developer.post(path, { version: 'same', when_busy: 'queue' });
    expect(waiting.json.waiting).toBe(true);
  });

  test('cannot be rerun while its script is disabled', async () => {
    const { id, path } = await ended();
    await developer.post(`/api/v1/scripts/${id}/disable`);
    expect((await developer.post(path, { version: 'same' })).json.code).toBe('script_disabled');
  });

  async function limitsOf(runId: string): Promise<object> {
    const { rows } = await platform.pool.query<{ limits: object }>(
      'SELECT limits FROM runs WHERE run_id = $1',
      [runId],
    );
    return rows[0]?.limits ?? {};
  }
});

describe('a client that prefers to wait', () => {
  test('receives the finished run if it ends in time', async () => {
    const { id } = await script(developer);
    const headers = { Prefer: 'wait=30' };
    const answer = developer.post(start(id), {}, { headers });
    const runId = await queuedRunOf(id);
    await finishRun(platform, runId, await startRun(platform, runId));
    expect((await answer).status).toBe(200);
    expect((await answer).json.status).toBe('success');
    expect((await answer).headers.get('preference-applied')).toBe('wait=30');
  });

  test('receives the unfinished run if it does not end in time', async () => {
    const { id } = await script(developer);
    const answer = await developer.post(start(id), {}, { headers: { Prefer: 'wait=1' } });
    expect([answer.status, answer.json.status]).toEqual([202, 'queued']);
  });

  test('receives the finished run after a rerun', async () => {
    const { id } = await script(developer, { max_concurrent_runs: 2 });
    const first = await run(developer, id);
    const answer = developer.post(
      `/api/v1/runs/${first}/rerun`,
      { version: 'same' },
      { headers: { Prefer: 'wait=30' } },
    );
    const again = await queuedRunOf(id, 2);
    await finishRun(platform, again, await startRun(platform, again));
    expect((await answer).status).toBe(200);
    expect((await answer).json).toMatchObject({ run_id: again, status: 'success' });
    expect((await answer).headers.get('preference-applied')).toBe('wait=30');
  });

  /** Waits until this number of runs is queued. Returns the ID of the newest run. */
  async function queuedRunOf(id: string, count = 1): Promise<string> {
    for (;;) {
      const { items } = (await developer.get(`/api/v1/scripts/${id}/runs`)).json;
      if (items.length === count) return items[0].run_id as string;
    }
  }
});

describe('runs that a user stops', () => {
  test('end immediately while queued', async () => {
    const runId = await run(developer, (await script(developer)).id);
    const stopped = await developer.post(`/api/v1/runs/${runId}/stop`);
    expect(stopped.status).toBe(202);
    expect(stopped.json.items).toMatchObject([{ run_id: runId, status: 'stopped' }]);
    const again = await developer.post(`/api/v1/runs/${runId}/stop`);
    expect([again.status, again.json.code]).toEqual([409, 'run_not_active']);
  });

  test('are stopped by their runtime while running', async () => {
    const runId = await run(developer, (await script(developer)).id);
    await startRun(platform, runId);
    const told = new Promise((resolve) => {
      const unsubscribe = platform.bus.subscribe('stop', (message) => {
        if (message.runId === runId) resolve(unsubscribe());
      });
    });
    const stopped = await developer.post(`/api/v1/runs/${runId}/stop`);
    expect(stopped.json.items).toMatchObject([{ status: 'running', stop_requested: true }]);
    await told;
  });

  test('are all stopped by a request to the script', async () => {
    const { id } = await script(developer, { max_concurrent_runs: 3 });
    for (let index = 0; index < 3; index += 1) await run(developer, id);
    const stop = `/api/v1/runs/scripts/${id}/stop`;
    expect((await developer.post(stop)).json.items).toHaveLength(3);
    const none = await developer.post(stop, {});
    expect([none.status, none.json.code]).toEqual([409, 'run_not_active']);
  });

  test('are stopped in order: queued runs first, then running runs', async () => {
    const many = 140;
    const { id } = await script(developer, { max_concurrent_runs: many });
    const ids: string[] = [];
    for (let index = 0; index < many; index += 1) ids.push(await run(developer, id));
    await startRun(platform, ids[0]!);
    const stopped = await developer.post(`/api/v1/runs/scripts/${id}/stop`);
    expect(stopped.json.items.map((one: { run_id: string }) => one.run_id)).toEqual(ids);
    expect(stopped.json.items[0]).toMatchObject({ status: 'running', stop_requested: true });
    const { rows } = await platform.pool.query<{ stream_id: string; global_position: number }>(
      'SELECT stream_id, global_position FROM events ORDER BY global_position DESC LIMIT 1',
    );
    expect(rows[0]?.stream_id).toBe(`run-${ids[0]}`);
    expect(stopped.headers.get('Orch-Position')).toBe(String(rows[0]?.global_position));
  });

  test('can be stopped individually', async () => {
    const { id } = await script(developer, { max_concurrent_runs: 3 });
    const [one, other] = [await run(developer, id), await run(developer, id)];
    const stop = `/api/v1/runs/scripts/${id}/stop`;
    expect((await developer.post(stop, { run_id: one })).json.items).toMatchObject([
      { run_id: one },
    ]);
    expect((await developer.get(`/api/v1/runs/${other}`)).json.status).toBe('queued');
    const foreign = await run(developer, (await script(developer)).id);
    expect((await developer.post(stop, { run_id: foreign })).status).toBe(404);
    expect((await developer.post(stop, { run_id: nowhere })).status).toBe(404);
  });
});
