import { mustParse, parseCommandId } from '#domain/kernel/ids.ts';
import { Projector } from '#infra/postgres/readers/projector.ts';
import { eventsVisible } from '#infra/testing/platform.ts';
import { auditProjection } from '#projections/audit/apply.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { openSession, type SignedIn } from '../access/sign-in.ts';
import { sessionHeaders } from '../testing/browser-session.ts';
import { FrameLog } from '../testing/frame-log.ts';
import {
  accountHolder,
  accountPassword as password,
  apiToken,
  groups,
  nowhere,
  script,
  someone,
} from '../testing/people.ts';
import { startTestBackend, type TestBackend } from '../testing/test-backend.ts';
import { statusesOf, TestClient } from '../testing/test-client.ts';

let platform: TestBackend;
beforeAll(async () => {
  platform = await startTestBackend();
});
afterAll(() => platform.close());

describe('the seeded groups', () => {
  test('are listed for their members, and for administrators', async () => {
    const viewer = await someone(platform, { role: 'viewer', groupIds: [groups.bots] });
    const own = (await viewer.get('/api/v1/groups')).json.items;
    expect(own).toMatchObject([{ name: 'bots', color: '#8b5cf6' }]);
    const all = (await platform.admin.get('/api/v1/groups')).json.items;
    expect(all.map((one: { name: string }) => one.name)).toEqual([
      'monitoring',
      'bots',
      'ETL',
      'custom',
    ]);
  });
});

describe('groups', () => {
  test('can be created, changed and deleted', async () => {
    const { admin } = platform;
    const made = await admin.post('/api/v1/groups', { name: 'reports' });
    expect(made.status).toBe(201);
    const address = made.headers.get('location') ?? '';
    const change = { name: 'Reports', color: '#0ea5e9', icon: 'bot' };
    expect((await admin.patch(address, change)).json).toEqual({ id: made.json.id, ...change });
    expect((await admin.get(address)).json).toEqual({ id: made.json.id, ...change });
    expect((await admin.patch(address, { color: 'blue' })).status).toBe(422);
    expect((await admin.delete(address)).status).toBe(204);
    expect((await admin.delete(address)).status).toBe(204);
    expect((await admin.patch(address, change)).status).toBe(404);
  });

  test('have unique names, regardless of case, even when created concurrently', async () => {
    const { admin } = platform;
    const names = ['Sums', 'sums', 'SUMS'];
    const answers = await Promise.all(names.map((name) => admin.post('/api/v1/groups', { name })));
    expect(statusesOf(answers)).toEqual([201, 409, 409]);
    const taken = await admin.patch(`/api/v1/groups/${groups.bots}`, { name: 'Etl' });
    expect([taken.status, taken.json.code]).toEqual([409, 'already_exists']);
    const itself = await admin.patch(`/api/v1/groups/${groups.bots}`, { name: 'Bots' });
    expect(itself.status).toBe(200);
    await admin.patch(`/api/v1/groups/${groups.bots}`, { name: 'bots' });
  });

  test('cannot be deleted while they have scripts, including deleted ones', async () => {
    const { admin } = platform;
    const { id } = (await admin.post('/api/v1/groups', { name: 'used' })).json;
    const made = await script(admin, { group_id: id });
    await admin.delete(`/api/v1/scripts/${made.id}`);
    const refused = await admin.delete(`/api/v1/groups/${id}`);
    expect([refused.status, refused.json.code]).toEqual([409, 'group_in_use']);
  });
});

describe('a user', () => {
  const person = () => accountHolder(platform);

  test('gets a new role immediately', async () => {
    const { id, client } = await person();
    const change = { role: 'viewer', group_ids: [groups.bots], name: 'Bob' };
    const changed = await platform.admin.patch(`/api/v1/users/${id}`, change);
    expect(changed.json).toMatchObject(change);
    expect((await platform.admin.get(`/api/v1/users/${id}`)).json).toEqual(changed.json);
    expect((await client.get('/api/v1/auth/me')).json).toMatchObject(change);
    const lost = await platform.admin.patch(`/api/v1/users/${id}`, { group_ids: [nowhere] });
    expect(lost.json.errors[0].pointer).toBe('/group_ids');
  });

  test('cannot sign in while disabled', async () => {
    const { id, email, client } = await person();
    const address = `/api/v1/users/${id}`;
    await platform.admin.patch(address, { disabled: true });
    expect((await client.get('/api/v1/auth/me')).status).toBe(401);
    const login = { email, password };
    expect((await platform.anonymous.post('/api/v1/auth/login', login)).status).toBe(401);
    await platform.admin.patch(address, { disabled: false });
    expect((await platform.anonymous.post('/api/v1/auth/login', login)).status).toBe(200);
  });

  test('cannot renew sessions after all of them have ended', async () => {
    const { id, email } = await person();
    const address = `/api/v1/users/${id}`;
    const ends = [
      async () => {
        await platform.admin.patch(address, { disabled: true });
        await platform.admin.patch(address, { disabled: false });
      },
      () => platform.admin.post(`${address}/password`, { password }),
      () => platform.admin.delete(`${address}/sessions`),
    ];
    for (const end of ends) {
      const answer = await platform.anonymous.post('/api/v1/auth/login', { email, password });
      const client = new TestClient(platform.origin, answer.json.access_token);
      const socket = new FrameLog(
        new WebSocket(`${platform.origin}/ws`, ['orch.v1', `orch.bearer.${client.token}`]),
      );
      await socket.until((all) => all.frames.length > 0);
      const { ticket } = (await client.post('/api/v1/auth/ws-ticket')).json as { ticket: string };
      await end();
      expect((await client.get('/api/v1/auth/me')).status).toBe(401);
      const renewal = platform.anonymous.with(sessionHeaders(answer)).post('/api/v1/auth/refresh');
      expect((await renewal).status).toBe(401);
      expect(await socket.closed).toBe(4401);
      const late = new FrameLog(new WebSocket(`${platform.origin}/ws?token=${ticket}`));
      expect(await late.closed).toBe(4401);
    }
  });

  test('cannot complete a sign-in during a password change', async () => {
    const { id, email } = await person();
    const { matches } = platform.services.passwords;
    const looked = Promise.withResolvers<void>();
    const changed = Promise.withResolvers<void>();
    const slow = {
      ...platform.services,
      passwords: {
        ...platform.services.passwords,
        matches: async (...asked: Parameters<typeof matches>) => {
          const isMatch = await matches(...asked);
          looked.resolve();
          await changed.promise;
          return isMatch;
        },
      },
    };
    const commandId = mustParse(parseCommandId, slow.ids.next());
    const context = { commandId, actor: { kind: 'anonymous' }, ip: null } as const;
    const opening = openSession(
      {
        body: { email, password },
        context: { ...context, correlationId: commandId, causationId: null },
        ip: '127.0.0.1',
        header: () => undefined,
        origin: platform.origin,
        headers: {},
      },
      slow,
    );
    await looked.promise;
    await platform.admin.post(`/api/v1/users/${id}/password`, { password: 'another password' });
    changed.resolve();
    const { accessToken } = (await opening) as SignedIn;
    const client = new TestClient(platform.origin, accessToken);
    expect((await client.get('/api/v1/auth/me')).status).toBe(401);
  });

  test('has sessions that administrators can list and end', async () => {
    const { id, client } = await person();
    const address = `/api/v1/users/${id}`;
    expect((await platform.admin.get(address)).json.last_login_at).toMatch(/^20/);
    const { items } = (await platform.admin.get(`${address}/sessions`)).json;
    expect(items).toMatchObject([{ current: false, ip: '127.0.0.1', user_agent: 'node' }]);
    const token = await apiToken(client, ['runs:read']);
    const tokens = (await platform.admin.get(`${address}/tokens`)).json.items;
    expect(tokens).toMatchObject([{ id: token.id, name: 'deploy', scopes: ['runs:read'] }]);
    await platform.admin.delete(`/api/v1/auth/tokens/${token.id}`);
    expect((await token.client.get('/api/v1/auth/me')).status).toBe(401);
    await platform.admin.delete(`/api/v1/auth/sessions/${items[0].id}`);
    expect((await client.get('/api/v1/auth/me')).status).toBe(401);
    expect((await platform.admin.get(`${address}/sessions`)).json.items).toEqual([]);
    expect((await platform.admin.get(`${address}/tokens`)).json.items).toEqual([]);
  });

  test('remains an administrator if no other administrator exists', async () => {
    const { id } = (await platform.admin.get('/api/v1/auth/me')).json as { id: string };
    const answer = await platform.admin.patch(`/api/v1/users/${id}`, { role: 'viewer' });
    expect([answer.status, answer.json.code]).toEqual([409, 'last_administrator']);
  });

  test('loses all sessions when the password is reset, and signs in with the new one', async () => {
    const { id, email, client } = await person();
    const address = `/api/v1/users/${id}/password`;
    expect((await platform.admin.post(address, { password: 'short' })).status).toBe(422);
    expect((await platform.admin.post(address, { password: 'another password' })).status).toBe(204);
    expect((await client.get('/api/v1/auth/me')).status).toBe(401);
    await platform.anonymous.signIn({ email, password: 'another password' });
  });

  test('keeps only the current session after a password change', async () => {
    const { email, client } = await person();
    const other = await platform.anonymous.signIn({ email, password });
    const change = { current_password: 'a wrong one', new_password: 'another password' };
    const refused = await client.post('/api/v1/auth/password', change);
    expect(refused.json.errors[0].pointer).toBe('/current_password');
    const body = { ...change, current_password: password };
    expect((await client.post('/api/v1/auth/password', body)).status).toBe(204);
    expect((await client.get('/api/v1/auth/me')).status).toBe(200);
    expect((await other.get('/api/v1/auth/me')).status).toBe(401);
    await platform.anonymous.signIn({ email, password: 'another password' });
  });
});

describe('accounts', () => {
  const wanted = { email: 'Ada@Example.com', password: 'a good password', role: 'operator' };

  test('are shown without a password or hash', async () => {
    const made = await platform.admin.post('/api/v1/users', wanted);
    expect(made.status).toBe(201);
    expect(made.json).toMatchObject({ email: 'ada@example.com', name: 'ada', role: 'operator' });
    const list = await platform.admin.get('/api/v1/users');
    expect(`${made.text}${list.text}`).not.toMatch(/password|hash|\$2b\$/);
    const again = await platform.admin.post('/api/v1/users', wanted);
    expect([again.status, again.json.code]).toEqual([409, 'already_exists']);
  });

  test.each([
    ['password', /too common/],
    ['Password2026!', /too common/],
    ['12345678', /too common/],
    ['aaaabbbb', /4 different characters/],
    ['grace.hopper rules', /contains "grace\.hopper"/],
    ['Rear Admiral 42', /contains "Rear Admiral"/],
  ])('refuse %j as a password, with the reason', async (bad, why) => {
    const email = 'grace.hopper@example.com';
    const body = { ...wanted, email, name: 'Rear Admiral', password: bad };
    const answer = await platform.admin.post('/api/v1/users', body);
    expect([answer.status, answer.json.errors[0].pointer]).toEqual([422, '/password']);
    expect(answer.json.detail).toMatch(why);
  });

  test('refuse a common password on change and reset', async () => {
    const { id, client } = await accountHolder(platform);
    const own = { current_password: password, new_password: 'password1' };
    const changed = await client.post('/api/v1/auth/password', own);
    expect([changed.status, changed.json.errors[0].pointer]).toEqual([422, '/new_password']);
    const reset = await platform.admin.post(`/api/v1/users/${id}/password`, {
      password: 'password1',
    });
    expect([reset.status, reset.json.errors[0].pointer]).toEqual([422, '/password']);
  });

  test('have unique addresses, even when created concurrently', async () => {
    const body = { ...wanted, email: 'same@example.com' };
    const answers = await Promise.all(
      [1, 2, 3].map(() => platform.admin.post('/api/v1/users', body)),
    );
    expect(statusesOf(answers)).toEqual([201, 409, 409]);
  });

  test('are refused with a password over 72 bytes or an unknown group', async () => {
    const long = { ...wanted, email: 'b@x', password: '🔑'.repeat(19) };
    const tooLong = await platform.admin.post('/api/v1/users', long);
    expect(tooLong.json.errors[0].pointer).toBe('/password');
    const lost = { ...wanted, email: 'c@x', group_ids: [nowhere] };
    const noGroup = await platform.admin.post('/api/v1/users', lost);
    expect(noGroup.json.errors[0].pointer).toBe('/group_ids');
    const users = (await platform.admin.get('/api/v1/users?limit=200')).json.items;
    expect(users.filter((one: { email: string }) => /^[bc]@x$/.test(one.email))).toEqual([]);
  });
});

describe('actions and refused attempts', () => {
  test('are visible at the requested position', async () => {
    const trail = '/api/v1/audit?limit=1';
    const made = await platform.admin.post('/api/v1/scripts', { name: 'Awaited' });
    const position = made.headers.get('orch-position') ?? '';
    // Transactions of other tests delay the visibility, so this test waits for it before the time limit starts.
    await eventsVisible(platform.pool);
    const answer = platform.admin.get(trail, { headers: { 'Orch-Min-Position': position } });
    await new Projector(platform.pool, [auditProjection]).runOnce(new AbortController().signal);
    expect((await answer).json.items[0].event_position).toBeGreaterThanOrEqual(Number(position));
  });

  test('are both in the audit trail, newest first', async () => {
    const auditor = await someone(platform, {
      role: 'viewer',
      groupIds: [groups.custom],
      canAudit: true,
    });
    await platform.backend.settle();
    const { id } = await script(platform.admin);
    await auditor.with({ 'X-Forwarded-For': '192.0.2.9' }).post(`/api/v1/scripts/${id}/run`);
    await platform.backend.settle();
    await eventsVisible(platform.pool);
    await new Projector(platform.pool, [auditProjection]).runOnce(new AbortController().signal);
    const page = (await auditor.get('/api/v1/audit?limit=2')).json;
    expect(page.items).toMatchObject([
      {
        action: 'POST /api/v1/runs/scripts/{id}/run',
        outcome: 'refused',
        detail: 'forbidden',
        resource: `script-${id}`,
        ip: '192.0.2.9',
      },
      { action: 'script_created', outcome: 'accepted', resource: `script-${id}` },
    ]);
    const rest = (await auditor.get(`/api/v1/audit?limit=2&cursor=${page.next_cursor}`)).json;
    expect(rest.items[0].audit_seq).toBeLessThan(page.items[1].audit_seq);
  });
});
