import { splitWebhookPayload } from '#domain/webhook/payload.ts';
import { getPayload } from '#infra/postgres/event-store/payloads.ts';
import { takeCall } from '#infra/postgres/operations/webhook-rate.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  deeds,
  finishRun,
  groups,
  nowhere,
  refusals,
  run,
  script,
  someone,
  startRun,
  webhook,
} from '../testing/people.ts';
import { startTestBackend, type TestBackend } from '../testing/test-backend.ts';
import type { Answer, TestClient } from '../testing/test-client.ts';

let platform: TestBackend;
let developer: TestClient;
beforeAll(async () => {
  platform = await startTestBackend();
  developer = await someone(platform, { role: 'developer', groupIds: [groups.custom] });
});
afterAll(() => platform.close());

const path = '/api/v1/webhooks';

function call(token: string, body: string | Uint8Array = '', headers = {}): Promise<Answer> {
  return platform.anonymous.send('POST', `/hooks/${token}`, body, { headers });
}

async function hooked(settings: object = {}, ofScript: object = {}) {
  const { id: scriptId } = await script(developer, { max_concurrent_runs: 100, ...ofScript });
  return { scriptId, ...(await webhook(developer, scriptId, settings)) };
}

describe('a webhook', () => {
  test('passes the body of a call to a run byte for byte', async () => {
    const { id, token } = await hooked({ name: 'push' });
    const body = Uint8Array.from([0, 10, 255, 123]);
    const headers = { 'Content-Type': 'application/json', 'X-GitHub-Event': 'push' };
    const called = await call(token, body, { ...headers, Authorization: 'Bearer nothing' });
    expect([called.status, called.json.status]).toEqual([202, 'queued']);
    const shown = (await developer.get(`/api/v1/runs/${called.json.run_id}`)).json;
    expect(shown).toMatchObject({
      trigger_type: 'webhook',
      trigger: { type: 'webhook', webhook_id: id },
      requested_by: 'webhook push',
    });
    const stored = await getPayload(platform.pool, shown.trigger.payload_sha256);
    const payload = splitWebhookPayload(stored ?? new Uint8Array());
    expect([...payload.body]).toEqual([...body]);
    expect(payload.headers).toContain('"x-github-event":"push"');
    expect(payload.headers).not.toContain('nothing');
    const again = await developer.post(`/api/v1/runs/${called.json.run_id}/rerun`, {
      version: 'same',
    });
    expect(again.json.trigger).toEqual({
      type: 'rerun',
      run_id: called.json.run_id,
      payload_sha256: shown.trigger.payload_sha256,
    });
    const listed = await developer.get(`${path}?script_id=${shown.script_id}`);
    expect(listed.json.items).toMatchObject([{ id, last_called_at: expect.any(String) }]);
    expect(listed.text).not.toContain(token);
  });

  test('returns the result to a waiting caller', async () => {
    const { token } = await hooked();
    const queued = new Promise<string>((resolve) => {
      const unsubscribe = platform.bus.subscribe('status', (message) => {
        unsubscribe();
        resolve(message.runId);
      });
    });
    const called = platform.anonymous.send('POST', `/api/v1/hooks/${token}?wait=30`, 'x');
    const runId = await queued;
    await finishRun(platform, runId, await startRun(platform, runId));
    const answer = await called;
    expect([answer.status, answer.json]).toEqual([
      200,
      { run_id: runId, status: 'success', exit_code: 0, output: null },
    ]);
  });

  test('creates only one run if an idempotency key is repeated', async () => {
    const { token } = await hooked({}, { max_concurrent_runs: 1 });
    const headers = { 'Idempotency-Key': 'delivery-1' };
    const answers = await Promise.all([1, 2, 3].map(() => call(token, 'x', headers)));
    expect(new Set(answers.map((one) => one.json.run_id)).size).toBe(1);
    const other = await call(token, 'y', headers);
    expect([other.status, other.json.code]).toEqual([422, 'idempotency_key_reused']);
  });

  test('stops accepting its token when the token is rotated or the webhook is deleted', async () => {
    const { id, token } = await hooked();
    const rotated = (await developer.post(`${path}/${id}/rotate`)).json;
    expect((await call(token)).status).toBe(404);
    expect((await call(rotated.token)).status).toBe(202);
    expect((await developer.delete(`${path}/${id}`)).status).toBe(204);
    expect((await call(rotated.token)).status).toBe(404);
    expect((await developer.delete(`${path}/${id}`)).status).toBe(404);
  });

  test('refuses calls when it or its script is disabled, or at the concurrency limit', async () => {
    const { id, token, scriptId } = await hooked({}, { max_concurrent_runs: 1 });
    const code = async () => {
      const answer = await call(token);
      return [answer.status, answer.json.code];
    };
    await run(developer, scriptId);
    expect(await code()).toEqual([409, 'concurrency_limit_reached']);
    await developer.patch(`${path}/${id}`, { when_busy: 'queue' });
    expect((await call(token)).status).toBe(202);
    await developer.post(`/api/v1/scripts/${scriptId}/disable`);
    expect(await code()).toEqual([409, 'script_disabled']);
    await developer.patch(`${path}/${id}`, { enabled: false });
    expect(await code()).toEqual([409, 'webhook_disabled']);
  });

  test('refuses a body over 1 MiB, and stores nothing', async () => {
    const { token } = await hooked();
    const before = await deeds(platform);
    expect((await call(token, 'x'.repeat(1024 * 1024 + 1))).status).toBe(413);
    expect(await deeds(platform)).toBe(before);
    expect((await call(token, 'x'.repeat(1024 * 1024))).status).toBe(202);
  });

  test('queues its run while triggers are paused', async () => {
    const { token } = await hooked();
    await platform.admin.post('/api/v1/system/pause');
    const called = await call(token);
    await platform.admin.post('/api/v1/system/resume');
    expect(called.status).toBe(202);
    const shown = await developer.get(`/api/v1/runs/${called.json.run_id}`);
    expect(shown.json).toMatchObject({ status: 'queued', waiting: true });
  });

  test('does not show its token again if an idempotency key is repeated', async () => {
    const { scriptId } = await hooked();
    const options = { headers: { 'Idempotency-Key': 'one-webhook' } };
    const body = { script_id: scriptId };
    const first = await developer.post(path, body, options);
    const { token, url, ...others } = first.json;
    expect(url).toBe(`${platform.origin}/hooks/${token}`);
    expect((await developer.post(path, body, options)).json).toEqual(others);
    await platform.pool.query('DELETE FROM idempotency_answers');
    expect((await developer.post(path, body, options)).json).toEqual(others);
  });

  test('has the URL of the reverse proxy through which it was created', async () => {
    const { scriptId } = await hooked();
    const address = async (headers: Record<string, string>) =>
      (await developer.post(path, { script_id: scriptId }, { headers })).json.url as string;
    const proxied = { 'X-Forwarded-Proto': 'https' };
    expect(await address(proxied)).toMatch(/^https:\/\/127\.0\.0\.1:\d+\/hooks\/whk_/);
  });

  test('cannot be created for a script that the caller cannot see', async () => {
    const { id } = await script(platform.admin, { group_id: groups.bots });
    for (const scriptId of [id, nowhere]) {
      expect((await developer.post(path, { script_id: scriptId })).status).toBe(422);
    }
  });
});

describe('a rate limit', () => {
  test('accepts 20 of 30 concurrent calls, and returns a retry time for the others', async () => {
    const { token } = await hooked({ rate_limit_per_minute: 1 });
    const answers = await Promise.all(Array.from({ length: 30 }, () => call(token)));
    const refused = answers.filter((one) => one.status === 429);
    expect(answers.filter((one) => one.status === 202)).toHaveLength(20);
    expect(refused).toHaveLength(10);
    expect(Number(refused[0]?.headers.get('retry-after'))).toBeGreaterThan(50);
    expect(refused[0]?.headers.get('ratelimit-policy')).toBe('"webhook";q=1;w=60');
  });

  test('refills over time, up to the burst', async () => {
    const take = async () => await takeCall(platform.pool, nowhere, 60);
    const past = async (seconds: number) =>
      await platform.pool.query(
        `UPDATE webhook_calls SET called_at = called_at - make_interval(secs => $2)
          WHERE webhook_id = $1`,
        [nowhere, seconds],
      );
    for (let left = 19; left >= 0; left -= 1) {
      expect((await take()).remaining).toBeGreaterThanOrEqual(left);
    }
    await platform.pool.query('UPDATE webhook_calls SET allowance = 0 WHERE webhook_id = $1', [
      nowhere,
    ]);
    expect(await take()).toMatchObject({ allowed: false, retryAfterSeconds: 1 });
    await past(2);
    expect(await take()).toMatchObject({ allowed: true, remaining: 1 });
    await past(3600);
    expect(await take()).toMatchObject({ allowed: true, remaining: 19 });
  });
});

test('an unknown webhook token does not appear in the audit entry of the call', async () => {
  const token = 'whk_no-such-token';
  const answers = await Promise.all([call(token), call('x'), call(nowhere)]);
  expect(answers.map((one) => one.status)).toEqual([404, 404, 404]);
  const told = (await refusals(platform)).filter((one) => one.operation.includes('hooks'));
  expect(told.at(-1)).toMatchObject({ operation: 'POST /api/v1/hooks/{token}', code: 'not_found' });
  const { rows } = await platform.pool.query<{ found: number }>(
    `SELECT count(*)::integer AS found FROM events WHERE data::text LIKE $1`,
    [`%${token}%`],
  );
  expect(rows).toEqual([{ found: 0 }]);
  expect(JSON.stringify(platform.logged)).not.toContain(token);
});
