import { once } from 'node:events';
import type { Role } from '#domain/kernel/actor.ts';
import { scopes, type Scope } from '#domain/kernel/rights.ts';
import { apiTokenForm } from '#services/shared/api-tokens.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { apiToken, deeds, groups, nowhere, run, script, someone } from '../testing/people.ts';
import { startTestBackend, type TestBackend } from '../testing/test-backend.ts';
import { TestClient } from '../testing/test-client.ts';

let platform: TestBackend;
let developer: TestClient;
beforeAll(async () => {
  platform = await startTestBackend();
  developer = await someone(platform, { role: 'developer', groupIds: [groups.custom] });
});
afterAll(() => platform.close());

const path = '/api/v1/auth/tokens';
const dayMs = 24 * 60 * 60 * 1000;

async function emailOf(client: TestClient): Promise<string> {
  return ((await client.get('/api/v1/auth/me')).json as { email: string }).email;
}

describe('a token', () => {
  test('is shown once, and only its hash is stored', async () => {
    const body = { name: 'ci', scopes: ['runs:read'], expires_in_days: 1 };
    const made = await developer.post(path, body);
    const { token, expires_at: end, created_at: start } = made.json;
    expect(token).toMatch(apiTokenForm);
    expect(new Date(end).getTime() - new Date(start).getTime()).toBeCloseTo(dayMs, -4);
    const listed = await developer.get(path);
    expect(listed.json.items[0]).toMatchObject({ name: 'ci', scopes: ['runs:read'] });
    expect(listed.text).not.toContain(token.slice(5));
    const { rows } = await platform.pool.query<{ found: number }>(
      `SELECT (SELECT count(*) FROM events WHERE data::text LIKE $1 OR metadata::text LIKE $1)
        + (SELECT count(*) FROM api_tokens t WHERE t::text LIKE $1) AS found`,
      [`%${token.slice(5)}%`],
    );
    expect(Number(rows[0]?.found)).toBe(0);
  });

  test('is not shown again for the same idempotency key', async () => {
    const options = { headers: { 'Idempotency-Key': 'one-token' } };
    const body = { name: 'once', scopes: ['*'] };
    const first = await developer.post(path, body, options);
    const before = await deeds(platform);
    const again = await developer.post(path, body, options);
    const { token, ...others } = first.json;
    expect(token).toBeDefined();
    expect([again.status, again.json]).toEqual([201, others]);
    // Simulates a crash between the command and its response.
    await platform.pool.query('DELETE FROM idempotency_answers');
    expect((await developer.post(path, body, options)).json).toEqual(others);
    expect(await deeds(platform)).toBe(before);
  });

  test('with an unknown scope is refused with the list of all scopes', async () => {
    const { status, json } = await developer.post(path, { name: 'x', scopes: ['runs'] });
    const detail = `must be one of ${scopes.map((scope) => `"${scope}"`).join(', ')}`;
    expect([status, json.errors]).toEqual([422, [{ pointer: '/scopes/0', detail }]]);
  });

  test('expires after 90 days by default, and never if null is given', async () => {
    const made = await developer.post(path, { name: 'x', scopes: ['*'] });
    const { expires_at: end } = made.json as { expires_at: string };
    expect(new Date(end).getTime() - Date.now()).toBeGreaterThan(89 * dayMs);
    const endless = { name: 'x', scopes: ['*'], expires_in_days: null };
    expect((await developer.post(path, endless)).json.expires_at).toBeNull();
  });

  test('stops working immediately when revoked, including on its WebSockets', async () => {
    const { client, id } = await apiToken(developer, ['*']);
    const address = `${platform.origin.replace('http', 'ws')}/ws`;
    const socket = new WebSocket(address, ['orch.v1', `orch.bearer.${client.token}`]);
    await once(socket, 'message');
    const closed = once(socket, 'close') as Promise<[number]>;
    expect((await developer.delete(`${path}/${id}`)).status).toBe(204);
    const [code] = await closed;
    expect(code).toBe(4401);
    expect((await client.get('/api/v1/scripts')).status).toBe(401);
    expect((await developer.delete(`${path}/${id}`)).status).toBe(404);
    expect((await developer.get(path)).text).not.toContain(id);
  });

  test('is refused when it has expired or never existed', async () => {
    const { client, id } = await apiToken(developer, ['*']);
    const sql = `UPDATE api_tokens SET expires_at = now() - interval '1 second' WHERE token_id = $1`;
    await platform.pool.query(sql, [id]);
    const forged = new TestClient(platform.origin, `orch_${'A'.repeat(43)}`);
    for (const one of [client, forged]) {
      expect((await one.get('/api/v1/scripts')).status).toBe(401);
    }
  });

  test('has its last use recorded in batches in the background', async () => {
    const { client, id } = await apiToken(developer, ['scripts:read']);
    const lastUse = async (): Promise<string | null> => {
      const { items } = (await developer.get(path)).json as {
        items: readonly { id: string; last_used_at: string | null }[];
      };
      return items.find((one) => one.id === id)?.last_used_at ?? null;
    };
    expect(await lastUse()).toBeNull();
    for (let round = 0; round < 3; round += 1) await client.get('/api/v1/scripts');
    await platform.backend.settle();
    expect(Date.parse((await lastUse()) ?? '')).toBeGreaterThan(Date.now() - 60_000);
  });

  test('is shown, with its owner, in the runs that it started', async () => {
    const { client, id } = await apiToken(developer, ['scripts:write', 'runs:write']);
    const runId = await run(client, (await script(client)).id);
    const shown = (await developer.get(`/api/v1/runs/${runId}`)).json;
    expect(shown).toMatchObject({
      trigger_type: 'api',
      trigger: { type: 'api', token_id: id },
      requested_by: `${await emailOf(developer)} (token deploy)`,
    });
  });

  test("applies changes to its owner's role, groups and status immediately", async () => {
    const owner = await someone(platform, { role: 'developer', groupIds: [groups.custom] });
    const { id: scriptId } = await script(owner);
    const { client } = await apiToken(owner, ['*']);
    const statuses = async () => [
      (await client.get(`/api/v1/scripts/${scriptId}`)).status,
      (await client.patch(`/api/v1/scripts/${scriptId}`, { description: 'new' })).status,
    ];
    const set = async (change: string) => {
      const values = [await emailOf(owner)];
      await platform.pool.query(`UPDATE users SET ${change} WHERE email = $1`, values);
    };
    expect(await statuses()).toEqual([200, 200]);
    await set(`role = 'viewer'`);
    expect(await statuses()).toEqual([200, 403]);
    await set(`role = 'developer', group_ids = '[]'`);
    expect(await statuses()).toEqual([404, 404]);
    await set('disabled = true');
    expect(await statuses()).toEqual([401, 401]);
  });
});

describe('the owner of a token', () => {
  const grantable: Readonly<Record<Role, readonly Scope[]>> = {
    administrator: scopes,
    developer: scopes.filter((one) => one !== 'admin' && one !== 'audit:read'),
    operator: ['scripts:read', 'runs:read', 'runs:write', '*'],
    viewer: ['scripts:read', 'runs:read', '*'],
  };

  test.each(Object.entries(grantable))(
    'with the role %s can grant a token exactly the rights of that role',
    async (role, has) => {
      const owner = await someone(platform, { role: role as Role, groupIds: [groups.custom] });
      for (const scope of scopes) {
        const made = await owner.post(path, { name: scope, scopes: [scope] });
        expect([scope, made.status]).toEqual([scope, has.includes(scope) ? 201 : 403]);
      }
    },
  );

  test('is the only user, apart from administrators, who can see and revoke the token', async () => {
    const { id } = await apiToken(developer, ['*']);
    const other = await someone(platform, { role: 'developer', groupIds: [groups.custom] });
    expect((await other.get(path)).json.items).toEqual([]);
    expect((await other.delete(`${path}/${id}`)).status).toBe(404);
    expect((await platform.admin.delete(`${path}/${id}`)).status).toBe(204);
    expect((await platform.admin.delete(`${path}/${nowhere}`)).status).toBe(404);
  });
});

describe('an API token of an administrator', () => {
  const token = async () => (await apiToken(platform.admin, ['*'])).client;
  let made = 0;
  const person = (body: object = {}) => ({
    email: `provisioned${(made += 1)}@example.com`,
    role: 'developer',
    ...body,
  });

  test('cannot create other tokens, which would outlive it', async () => {
    const answer = await (await token()).post(path, { name: 'next', scopes: ['runs:read'] });
    expect([answer.status, answer.json.code]).toEqual([403, 'forbidden']);
  });

  test.each([
    { password: 'four random words here' },
    { role: 'administrator' },
    { can_audit: true },
  ])('cannot create an account with %o', async (body) => {
    const answer = await (await token()).post('/api/v1/users', person(body));
    expect([answer.status, answer.json.code]).toEqual([403, 'forbidden']);
  });

  test('can create, change and disable accounts without a password', async () => {
    const client = await token();
    const created = await client.post('/api/v1/users', person());
    expect(created.status, created.text).toBe(201);
    const address = `/api/v1/users/${created.json.id}`;
    const login = { email: created.json.email, password: '' };
    expect((await platform.anonymous.post('/api/v1/auth/login', login)).status).toBe(401);
    const changes = { role: 'operator', group_ids: [groups.custom], disabled: true };
    expect((await client.patch(address, changes)).json).toMatchObject(changes);
    const password = 'four random words here';
    expect((await client.post(`${address}/password`, { password })).status).toBe(403);
    expect((await platform.admin.post(`${address}/password`, { password })).status).toBe(204);
    await platform.admin.patch(address, { disabled: false });
    await platform.anonymous.signIn({ email: created.json.email, password });
  });

  test('cannot promote an account to administrator or auditor, or change such an account', async () => {
    const client = await token();
    const { id } = (await client.post('/api/v1/users', person())).json;
    const { id: own } = (await platform.admin.get('/api/v1/auth/me')).json;
    const answers = [
      await client.patch(`/api/v1/users/${id}`, { role: 'administrator' }),
      await client.patch(`/api/v1/users/${id}`, { can_audit: true }),
      await client.patch(`/api/v1/users/${own}`, { name: 'Mallory' }),
      await client.patch(`/api/v1/users/${own}`, { role: 'viewer' }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([403, 403, 403, 403]);
  });
});

describe('an API token', () => {
  test('is refused by operations that require a sign-in', async () => {
    const { client } = await apiToken(developer, ['*']);
    const answer = await client.post('/api/v1/auth/logout');
    expect([answer.status, answer.json.detail]).toEqual([
      403,
      'API tokens cannot be used for this request. Use a session token instead.',
    ]);
  });
});
