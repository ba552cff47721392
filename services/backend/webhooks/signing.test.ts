import { createHmac } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { deeds, groups, script, someone } from '../testing/people.ts';
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

interface Hook {
  readonly id: string;
  readonly token: string;
  readonly signing_secret: string;
}

async function signedHook(body: object = { signing: true }): Promise<Hook> {
  const { id } = await script(developer, { max_concurrent_runs: 100 });
  const made = await developer.post(path, { script_id: id, ...body });
  expect(made.status, made.text).toBe(201);
  return made.json as Hook;
}

function call({ token }: Pick<Hook, 'token'>, body: string, headers: object = {}): Promise<Answer> {
  return platform.anonymous.send('POST', `/hooks/${token}`, body, { headers: { ...headers } });
}

/** Returns the headers of a message that is signed according to Standard Webhooks. */
function signed(secret: string, body: string, id = 'msg_1', at = Date.now()) {
  const timestamp = String(Math.floor(at / 1000));
  const key = Buffer.from(secret.replace('whsec_', ''), 'base64');
  const mac = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64');
  return {
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': `v1,${mac}`,
  };
}

describe('a webhook with signed calls', () => {
  test('shows its secret once, and stores it encrypted', async () => {
    const hook = await signedHook();
    expect(hook.signing_secret).toMatch(/^whsec_/);
    const listed = await developer.get(path);
    expect(listed.text).not.toContain(hook.signing_secret);
    expect(listed.json.items[0]).toMatchObject({ id: hook.id, signing: true });
    const { rows } = await platform.pool.query<{ found: number }>(
      `SELECT (SELECT count(*) FROM events WHERE strpos(data::text, $1) > 0)
        + (SELECT count(*) FROM webhooks WHERE strpos(signing::text, $1) > 0)
        + (SELECT count(*) FROM idempotency_answers WHERE strpos(body, $1) > 0) AS found`,
      [hook.signing_secret.slice('whsec_'.length)],
    );
    expect(rows).toEqual([{ found: 0 }]);
    expect(JSON.stringify(platform.logged)).not.toContain(hook.signing_secret);
  });

  test('starts a run for a signed call, and returns the same run for a repeated call', async () => {
    const hook = await signedHook();
    const headers = signed(hook.signing_secret, 'x');
    const first = await call(hook, 'x', headers);
    expect(first.status, first.text).toBe(202);
    expect((await call(hook, 'x', headers)).json.run_id).toBe(first.json.run_id);
    const other = await call(hook, 'x', signed(hook.signing_secret, 'x', 'msg_2'));
    expect(other.json.run_id).not.toBe(first.json.run_id);
    await platform.backend.settle();
    const deliveries = (await developer.get(`${path}/${hook.id}/deliveries`)).json.items;
    expect(deliveries).toMatchObject([
      { outcome: 'queued', run_id: other.json.run_id },
      { outcome: 'repeated', run_id: first.json.run_id },
      { outcome: 'queued', run_id: first.json.run_id },
    ]);
  });

  test('accepts GitHub signatures', async () => {
    const hook = await signedHook();
    const mac = createHmac('sha256', hook.signing_secret).update('{}').digest('hex');
    const headers = { 'X-Hub-Signature-256': `sha256=${mac}`, 'X-GitHub-Event': 'push' };
    expect((await call(hook, '{}', headers)).status).toBe(202);
    expect((await call(hook, '{ }', headers)).status).toBe(401);
  });

  test('refuses an invalid signature, and counts the refusal', async () => {
    const hook = await signedHook();
    const before = await deeds(platform);
    const answers = [
      await call(hook, 'x'),
      await call(hook, 'y', signed(hook.signing_secret, 'x')),
      await call(hook, 'x', signed(hook.signing_secret, 'x', 'msg_1', Date.now() - 600_000)),
    ];
    for (const { status, json, headers } of answers) {
      expect([status, json.code]).toEqual([401, 'invalid_signature']);
      expect(headers.get('www-authenticate')).toBe('Signature');
    }
    expect(answers.map((one) => one.json.detail)).toEqual([
      expect.stringContaining('must be signed'),
      expect.stringContaining('No signature'),
      expect.stringContaining('300 seconds'),
    ]);
    expect(await deeds(platform)).toBe(before);
    await platform.backend.settle();
    const { items } = (await developer.get(`${path}/${hook.id}/deliveries`)).json;
    // The three calls were made within one minute or across two minutes.
    const refused = { outcome: 'refused', status: 401, reason: 'invalid_signature', run_id: null };
    for (const item of items) expect(item).toMatchObject({ ...refused, redeliverable: false });
    expect(items.reduce((sum: number, one: { count: number }) => sum + one.count, 0)).toBe(3);
  });

  test('accepts only the new secret after a rotation, and keeps its token', async () => {
    const hook = await signedHook();
    const rotated = await developer.post(`${path}/${hook.id}/rotate`, { what: 'signing_secret' });
    expect(rotated.json).not.toHaveProperty('token');
    const { signing_secret: secret } = rotated.json;
    expect((await call(hook, 'x', signed(hook.signing_secret, 'x'))).status).toBe(401);
    expect((await call(hook, 'x', signed(secret, 'x'))).status).toBe(202);
    const token = (await developer.post(`${path}/${hook.id}/rotate`)).json;
    expect(token).not.toHaveProperty('signing_secret');
    expect((await call(token, 'x', signed(secret, 'x', 'msg_2'))).status).toBe(202);
  });

  test('loses its key when signatures are no longer required', async () => {
    const hook = await signedHook();
    const keys = async () => {
      const text = 'SELECT count(*) AS count FROM data_keys WHERE script_id = $1';
      return (await platform.pool.query<{ count: number }>(text, [hook.id])).rows[0]?.count;
    };
    expect(await keys()).toBe(1);
    const change = (body: object) => developer.patch(`${path}/${hook.id}`, body);
    expect((await change({ signing: true })).json).not.toHaveProperty('signing_secret');
    expect((await change({ signing: false })).json).toMatchObject({ signing: false });
    expect(await keys()).toBe(0);
    expect((await call(hook, 'x')).status).toBe(202);
    const again = await change({ signing: true });
    expect((await call(hook, 'x')).status).toBe(401);
    expect((await call(hook, 'x', signed(again.json.signing_secret, 'x'))).status).toBe(202);
    await developer.delete(`${path}/${hook.id}`);
    expect(await keys()).toBe(0);
  });

  test('asks callers to retry when its key is encrypted with another master key', async () => {
    const hook = await signedHook();
    await platform.pool.query(`UPDATE data_keys SET master_key_id = 'x' WHERE script_id = $1`, [
      hook.id,
    ]);
    const answer = await call(hook, 'x', signed(hook.signing_secret, 'x'));
    expect([answer.status, answer.json.code]).toEqual([503, 'unavailable']);
  });
});

test('a webhook without signed calls has no secret to rotate', async () => {
  const hook = await signedHook({});
  expect(hook).not.toHaveProperty('signing_secret');
  const answer = await developer.post(`${path}/${hook.id}/rotate`, { what: 'signing_secret' });
  expect([answer.status, answer.json.code]).toEqual([422, 'validation_failed']);
});
