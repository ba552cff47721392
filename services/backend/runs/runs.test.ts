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

describe('given a script', () => {
  test('when a run is asked for, then it is queued with its parameters', async () => {
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

  test('when a run has ended, then it and the script show it', async () => {
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

  test('when the other forms of the paths are used, then they mean the same', async () => {
    const { id } = await script(developer);
    expect((await developer.post(`/api/v1/scripts/${id}/run`)).status).toBe(202);
    expect((await developer.get(`/api/v1/scripts/${id}/runs`)).json.items).toHaveLength(1);
    expect((await developer.post(`/api/v1/scripts/${id}/stop`, {})).status).toBe(202);
  });

  test('when the parameters are too large, then nothing is kept of them', async () => {
    const { id } = await script(developer);
    const before = await payloads();
    const answer = await developer.post(start(id), { params: { text: 'x'.repeat(65_536) } });
    expect([answer.status, answer.json.code]).toEqual([413, 'payload_too_large']);
    expect(await payloads()).toBe(before);
  });

  test('when it is disabled, then no run is made and nothing is kept', async () => {
    const { id } = await script(developer);
    await developer.post(`/api/v1/scripts/${id}/disable`);
    const before = await payloads();
    const answer = await developer.post(start(id), { params: { unique: 'to this test' } });
    expect([answer.status, answer.json.code]).toEqual([409, 'script_disabled']);
    expect(await payloads()).toBe(before);
  });

  test('when 50 runs are asked for at once at limit 3, then exactly 3 are accepted', async () => {
    const { id } = await script(developer, { max_concurrent_runs: 3 });
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => developer.post(start(id), {})),
    );
    const codes = answers.map((one) => (one.status === 202 ? 'accepted' : one.json.code));
    expect(codes.filter((code) => code === 'accepted')).toHaveLength(3);
    expect(codes.filter((code) => code === 'concurrency_limit_reached')).toHaveLength(47);
    expect((await developer.get(`/api/v1/scripts/${id}/runs`)).json.items).toHaveLength(3);
  });

  test('when a request is repeated under its key, then one run is made', async () => {
    const { id } = await script(developer, { max_concurrent_runs: 9 });
    const key = { headers: { 'Idempotency-Key': 'run-1' } };
    const first = await developer.post(start(id), {}, key);
    expect((await developer.post(start(id), {}, key)).text).toBe(first.text);
    expect((await developer.get(`/api/v1/scripts/${id}/runs`)).json.items).toHaveLength(1);
    const other = await developer.post(start(id), { params: {} }, key);
    expect(other.json.code).toBe('idempotency_key_reused');
  });

  test('when the answer was lost before it was kept, then the key still names the run', async () => {
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

describe('given a script at its limit', () => {
  test('when a run may wait, then it does, and may be stopped', async () => {
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

describe('given a run that has ended', () => {
  async function ended() {
    const { id } = await script(developer, { limits: { cpu_seconds: 7 } });
    const runId = await run(developer, id, { params: { n: 1 }, timeout_seconds: 9 });
    await finishRun(platform, runId, await startRun(platform, runId));
    await developer.patch(`/api/v1/scripts/${id}`, { limits: { cpu_seconds: 8 } });
    return { id, runId, path: `/api/v1/runs/${runId}/rerun` };
  }

  test('when it is run again as it was, then it has that version and those settings', async () => {
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

  test('when it is run again as the script is now, then it has the present version', async () => {
    const { path } = await ended();
    const again = await developer.post(path, { version: 'latest' });
    expect(again.json).toMatchObject({ script_version: 2, params: { n: 1 } });
    expect(await limitsOf(again.json.run_id)).toMatchObject({ cpu_seconds: 8 });
  });

  test('when it is run again under one key, then one run is made', async () => {
    const { id, path } = await ended();
    const key = { headers: { 'Idempotency-Key': `rerun ${id}`.replace(' ', '-') } };
    const first = await developer.post(path, { version: 'same' }, key);
    expect((await developer.post(path, { version: 'same' }, key)).text).toBe(first.text);
    const over = await developer.post(path, { version: 'same' });
    expect(over.json.code).toBe('concurrency_limit_reached');
    const waiting = await developer.post(path, { version: 'same', when_busy: 'queue' });
    expect(waiting.json.waiting).toBe(true);
  });

  test('when its script is disabled, then it is not run again', async () => {
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

describe('given a client that prefers to wait', () => {
  test('when the run ends in time, then it gets the finished run', async () => {
    const { id } = await script(developer);
    const headers = { Prefer: 'wait=30' };
    const answer = developer.post(start(id), {}, { headers });
    const runId = await queuedRunOf(id);
    await finishRun(platform, runId, await startRun(platform, runId));
    expect((await answer).status).toBe(200);
    expect((await answer).json.status).toBe('success');
    expect((await answer).headers.get('preference-applied')).toBe('wait=30');
  });

  test('when the run does not end in time, then it gets the run as it is', async () => {
    const { id } = await script(developer);
    const answer = await developer.post(start(id), {}, { headers: { Prefer: 'wait=1' } });
    expect([answer.status, answer.json.status]).toEqual([202, 'queued']);
  });

  test('when it runs one again, then it gets that one finished', async () => {
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

  /** The newest run, once there are as many. */
  async function queuedRunOf(id: string, count = 1): Promise<string> {
    for (;;) {
      const { items } = (await developer.get(`/api/v1/scripts/${id}/runs`)).json;
      if (items.length === count) return items[0].run_id as string;
    }
  }
});

describe('given runs to stop', () => {
  test('when a queued run is stopped, then it has ended', async () => {
    const runId = await run(developer, (await script(developer)).id);
    const stopped = await developer.post(`/api/v1/runs/${runId}/stop`);
    expect(stopped.status).toBe(202);
    expect(stopped.json.items).toMatchObject([{ run_id: runId, status: 'stopped' }]);
    const again = await developer.post(`/api/v1/runs/${runId}/stop`);
    expect([again.status, again.json.code]).toEqual([409, 'run_not_active']);
  });

  test('when a running run is stopped, then the runtime is told', async () => {
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

  test('when a script is stopped, then all its runs are, and then there are none', async () => {
    const { id } = await script(developer, { max_concurrent_runs: 3 });
    for (let index = 0; index < 3; index += 1) await run(developer, id);
    const stop = `/api/v1/runs/scripts/${id}/stop`;
    expect((await developer.post(stop)).json.items).toHaveLength(3);
    const none = await developer.post(stop, {});
    expect([none.status, none.json.code]).toEqual([409, 'run_not_active']);
  });

  test('when a script with very many runs is stopped, then what waits is stopped first', async () => {
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

  test('when one run of a script is named, then only that is stopped', async () => {
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
