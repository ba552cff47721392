import { getPayload } from '#infra/postgres/event-store/payloads.ts';
import { splitWebhookPayload } from '#domain/webhook/payload.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { groups, nowhere, run, script, someone, webhook } from '../testing/people.ts';
import { startTestBackend, type TestBackend } from '../testing/test-backend.ts';
import type { Answer, TestClient } from '../testing/test-client.ts';
import { WebhookMisses } from './misses.ts';

let platform: TestBackend;
let developer: TestClient;
beforeAll(async () => {
  platform = await startTestBackend();
  developer = await someone(platform, { role: 'developer', groupIds: [groups.custom] });
});
afterAll(() => platform.close());

const path = '/api/v1/webhooks';

async function hooked(settings: object = {}, ofScript: object = {}) {
  const { id: scriptId } = await script(developer, { max_concurrent_runs: 100, ...ofScript });
  return { scriptId, ...(await webhook(developer, scriptId, settings)) };
}

function call(token: string, body: string, headers = {}): Promise<Answer> {
  return platform.anonymous.send('POST', `/hooks/${token}`, body, {
    headers: { 'X-Forwarded-For': '192.0.2.7', ...headers },
  });
}

async function deliveries(id: string, query = '') {
  await platform.backend.settle();
  return (await developer.get(`${path}/${id}/deliveries${query}`)).json;
}

const redeliver = (id: string, delivery: string) =>
  developer.post(`${path}/${id}/deliveries/${delivery}/redeliver`);

/** Returns the body of the payload that a run received. */
async function bodyOf(runId: string): Promise<string> {
  const { trigger } = (await developer.get(`/api/v1/runs/${runId}`)).json;
  const stored = await getPayload(platform.pool, trigger.payload_sha256);
  return Buffer.from(splitWebhookPayload(stored ?? new Uint8Array()).body).toString();
}

describe('the deliveries of a webhook', () => {
  test('include each call that created a run, with its caller', async () => {
    const { id, token } = await hooked();
    const { run_id: runId } = (await call(token, 'hello')).json;
    expect((await deliveries(id)).items).toEqual([
      {
        id: runId,
        time: expect.any(String),
        outcome: 'queued',
        status: 202,
        reason: null,
        run_id: runId,
        ip: '192.0.2.7',
        size_bytes: 5,
        count: 1,
        redelivery_of: null,
        redeliverable: true,
      },
    ]);
  });

  test('show their headers and body, as text or base64, while the payload is kept', async () => {
    const { id, token } = await hooked();
    const headers = { 'Content-Type': 'application/json', Authorization: 'Bearer hidden' };
    const { run_id: runId } = (await call(token, '{"order": 42}', headers)).json;
    const content = await developer.get(`${path}/${id}/deliveries/${runId}/content`);
    expect(content.json).toMatchObject({
      headers: { 'content-type': 'application/json' },
      body: '{"order": 42}',
      encoding: 'utf-8',
      truncated: false,
    });
    expect(content.text).not.toContain('hidden');
    const long = (await call(token, 'x'.repeat(70_000))).json.run_id;
    const cut = (await developer.get(`${path}/${id}/deliveries/${long}/content`)).json;
    expect([cut.body.length, cut.truncated]).toEqual([65_536, true]);
    const unknown = await developer.get(`${path}/${id}/deliveries/${id}/content`);
    expect(unknown.status).toBe(404);
  });

  test('are listed in pages, including refused calls, newest first', async () => {
    const { id, token, scriptId } = await hooked();
    const { run_id: first } = (await call(token, '1')).json;
    await developer.post(`/api/v1/scripts/${scriptId}/disable`);
    await call(token, '2');
    await platform.backend.settle();
    await developer.post(`/api/v1/scripts/${scriptId}/enable`);
    const { run_id: third } = (await call(token, '3')).json;
    const page = await deliveries(id, '?limit=2');
    const rest = await deliveries(id, `?limit=2&cursor=${page.next_cursor}`);
    const told = [...page.items, ...rest.items].map((one) => one.run_id ?? one.reason);
    expect(told).toEqual([third, 'script_disabled', first]);
    expect(rest.next_cursor).toBeNull();
  });

  test('can be sent again, which creates another run', async () => {
    const { id, token } = await hooked();
    const { run_id: first } = (await call(token, 'hello')).json;
    const again = await redeliver(id, first);
    expect(again.status, again.text).toBe(202);
    const { run_id: second } = again.json;
    expect(second).not.toBe(first);
    expect(again.headers.get('location')).toBe(`/api/v1/runs/${second}`);
    expect(await bodyOf(second)).toBe('hello');
    const [newest] = (await deliveries(id)).items;
    expect(newest).toMatchObject({ id: second, redelivery_of: first, size_bytes: 5 });
    const shown = (await developer.get(`/api/v1/runs/${second}`)).json;
    expect(shown.trigger).toMatchObject({ webhook_id: id, redelivery_of: first });
    expect(shown.requested_by).toMatch(/^developer/);
  });

  test('can be sent again after a refusal at the concurrency limit', async () => {
    const { id, token, scriptId } = await hooked({}, { max_concurrent_runs: 1 });
    const active = await run(developer, scriptId);
    expect((await call(token, 'late')).status).toBe(409);
    const [missed] = (await deliveries(id)).items;
    expect(missed).toMatchObject({
      outcome: 'refused',
      status: 409,
      reason: 'concurrency_limit_reached',
      run_id: null,
      size_bytes: 4,
      redeliverable: true,
    });
    expect((await redeliver(id, missed.id)).status).toBe(409);
    await developer.post(`/api/v1/runs/${active}/stop`);
    const again = await redeliver(id, missed.id);
    expect(again.status, again.text).toBe(202);
    expect(await bodyOf(again.json.run_id)).toBe('late');
  });

  test('count the calls that exceeded the rate limit', async () => {
    const { id, token } = await hooked({ rate_limit_per_minute: 1 });
    await Promise.all(Array.from({ length: 30 }, () => call(token, 'x')));
    const refused = (await deliveries(id)).items.filter(
      (one: { outcome: string }) => one.outcome === 'refused',
    );
    const counts = refused.map((one: { count: number }) => one.count);
    expect(counts.reduce((sum: number, one: number) => sum + one, 0)).toBe(10);
    // There is one row per minute, and the calls may span two minutes.
    expect(counts.length).toBeLessThanOrEqual(2);
    expect(refused[0]).toMatchObject({ status: 429, reason: 'rate_limited', redeliverable: false });
    expect((await redeliver(id, refused[0].id)).json.code).toBe('content_removed');
  });

  test('report content that is no longer retained', async () => {
    const { id, token } = await hooked();
    const { run_id: runId } = (await call(token, 'gone soon')).json;
    const { trigger } = (await developer.get(`/api/v1/runs/${runId}`)).json;
    await platform.pool.query('DELETE FROM payloads WHERE sha256 = $1', [trigger.payload_sha256]);
    expect((await deliveries(id)).items).toMatchObject([{ redeliverable: false }]);
    const answer = await redeliver(id, runId);
    expect([answer.status, answer.json.code]).toEqual([410, 'content_removed']);
  });

  test('are not found under another webhook', async () => {
    const [one, other] = [await hooked(), await hooked()];
    const { run_id: foreign } = (await call(other.token, 'x')).json;
    for (const delivery of [foreign, nowhere]) {
      expect((await redeliver(one.id, delivery)).status).toBe(404);
    }
  });
});

test('only the newest refused calls of a webhook are kept', async () => {
  const { database, clock, ids, logger } = platform.services;
  const misses = new WebhookMisses({ database, clock, ids, logger });
  const { id } = await hooked();
  const refused = { webhookId: id, code: 'script_disabled', status: 409, runId: null, ip: '' };
  for (let round = 0; round < 3; round += 1) {
    for (let number = 0; number < 90; number += 1) {
      misses.note({ ...refused, sizeBytes: round, payload: Buffer.from('{}\n') });
    }
    await misses.flush();
  }
  await misses.close();
  const { rows } = await platform.pool.query<{ size: number; count: number }>(
    `SELECT size_bytes AS size, count(*) AS count FROM webhook_misses WHERE webhook_id = $1
      GROUP BY size_bytes ORDER BY size_bytes`,
    [id],
  );
  expect(rows).toEqual([
    { size: 0, count: 20 },
    { size: 1, count: 90 },
    { size: 2, count: 90 },
  ]);
});
