/** Tests the claims of docs/security.md that no other test covers. */
import { readFileSync } from 'node:fs';
import { mustParse, parseCommandId } from '#domain/kernel/ids.ts';
import { tablesWith } from '#infra/testing/stored-text.ts';
import { bcryptPasswords } from '#services/shared/passwords.ts';
import { settings } from '#services/shared/settings.ts';
import bcrypt from 'bcrypt';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { WebSocket } from 'ws';
import { openSession } from './access/sign-in.ts';
import { seed } from './system/seed.ts';
import { cookieOf, sessionHeaders } from './testing/browser-session.ts';
import { FrameLog } from './testing/frame-log.ts';
import { apiToken, groups, run, script, someone, webhook } from './testing/people.ts';
import { administrator, startTestBackend, type TestBackend } from './testing/test-backend.ts';
import { TestClient } from './testing/test-client.ts';

const tokenKey = Buffer.from('0123456789abcdef0123456789abcdef');
let platform: TestBackend;
beforeAll(async () => {
  platform = await startTestBackend({ tokenKey });
});
afterAll(() => platform.close());

describe('the signing key', () => {
  test('is never stored in the database', async () => {
    const forms = [
      tokenKey.toString(),
      tokenKey.toString('hex'),
      tokenKey.toString('base64'),
      tokenKey.toString('base64url'),
    ];
    expect(await tablesWith(platform.pool, forms)).toEqual([]);
  });
});

describe('keys and passwords', () => {
  test('have no default values', async () => {
    for (const name of ['secretMasterKey', 'tokenKey', 'auditKey'] as const) {
      expect(settings[name]).not.toHaveProperty('fallback');
    }
    expect(settings.adminPassword.fallback?.({ dataDir: '', edition: 'minimal' })).toBeUndefined();
    const before = await platform.pool.query('SELECT user_id FROM users');
    await seed(platform.services, undefined, false);
    expect(await platform.pool.query('SELECT user_id FROM users')).toMatchObject({
      rowCount: before.rowCount,
    });
  });

  test('are checked at equal cost in failed sign-ins to all accounts', async () => {
    const email = 'disabled@example.com';
    const body = { email, password: 'a good password', role: 'viewer' };
    const { id } = (await platform.admin.post('/api/v1/users', body)).json as { id: string };
    await platform.admin.patch(`/api/v1/users/${id}`, { disabled: true });
    const work = [
      await workOf({ email: 'unknown@example.com', password: 'wrong' }),
      await workOf({ ...administrator, password: 'wrong' }),
      await workOf({ email, password: 'a good password' }),
    ];
    expect(work).toEqual(Array.from({ length: 3 }, () => ({ looks: 1, compares: 1 })));
  });

  test('are checked at equal cost if the account has no password', async () => {
    const passwords = bcryptPasswords(5);
    const compare = vi.spyOn(bcrypt, 'compare');
    await passwords.matches('x', await passwords.hash('y'));
    expect(await passwords.matches('x', undefined)).toBe(false);
    const rounds = compare.mock.calls.map(([, hash]) => bcrypt.getRounds(hash));
    compare.mockRestore();
    expect(rounds).toEqual([5, 5]);
  });
});

/** Counts the hash lookups and comparisons of a sign-in. */
async function workOf(body: { readonly email: string; readonly password: string }) {
  const { services } = platform;
  const work = { looks: 0, compares: 0 };
  const counting = {
    ...services,
    database: {
      query: ((text: string, values: unknown[]) => {
        if (text.includes('FROM credentials')) work.looks += 1;
        return services.database.query(text, values);
      }) as typeof services.database.query,
    },
    passwords: {
      ...services.passwords,
      matches: async (password: string, hash: string | undefined) => {
        work.compares += 1;
        return await services.passwords.matches(password, hash);
      },
    },
  };
  const commandId = mustParse(parseCommandId, services.ids.next());
  const actor = { kind: 'anonymous' } as const;
  const context = { commandId, actor, ip: null, correlationId: commandId, causationId: null };
  const call = {
    body,
    context,
    ip: '192.0.2.200',
    header: () => undefined,
    origin: platform.origin,
    headers: {},
  };
  expect(await openSession(call, counting)).toMatchObject({ code: 'unauthenticated' });
  return work;
}

describe('tokens of each kind', () => {
  test('do not appear in logs, tables, metrics or responses', async () => {
    const login = await platform.anonymous.post('/api/v1/auth/login', administrator);
    const { access_token: access } = login.json as { access_token: string };
    const browser = sessionHeaders(login);
    const { Cookie: cookie, 'Orch-Session-Key': key } = browser;
    const client = new TestClient(platform.origin, access);
    const made = await client.post('/api/v1/auth/tokens', { name: 'ci', scopes: ['*'] });
    const { token: api } = made.json as { token: string };
    const { id } = await script(client);
    const hook = await webhook(client, id, { signing: true });
    const { ticket } = (await client.post('/api/v1/auth/ws-ticket')).json as { ticket: string };
    const frames = new FrameLog(new WebSocket(`${platform.origin}/ws?token=${ticket}`));
    await frames.until((all) => all.frames.length > 0);
    const again = new FrameLog(new WebSocket(`${platform.origin}/ws?token=${ticket}`));
    expect(await again.closed).toBe(4401);
    frames.socket.terminate();
    const refresh = '/api/v1/auth/refresh';
    const next = await platform.anonymous.with(browser).post(refresh);
    const renewed = cookieOf(next.headers);
    const foreignKey = { Cookie: renewed, 'Orch-Session-Key': `${key}x` };
    const answers = [
      await platform.anonymous.with(foreignKey).post(refresh),
      await new TestClient(platform.origin, api).get('/api/v1/scripts'),
      await new TestClient(platform.origin, `${api}x`).get('/api/v1/scripts'),
      await new TestClient(platform.origin, `${access}x`).get('/api/v1/scripts'),
      await platform.anonymous.send('POST', `/hooks/${hook.token}`, 'x'),
      await platform.anonymous.send('POST', `/hooks/${hook.token}x`, 'x'),
      await client.get('/api/v1/webhooks'),
      await client.get('/api/v1/auth/tokens'),
      await client.get('/api/v1/audit?limit=200'),
      await platform.anonymous.get('/metrics'),
    ];
    await platform.backend.settle();
    const secretParts = [
      access.split('.')[2] ?? '',
      api.slice(5),
      hook.token,
      ticket,
      key,
      cookie.split('.')[1] ?? '',
      renewed.split('.')[1] ?? '',
    ];
    expect(secretParts.every((part) => part.length >= 22)).toBe(true);
    const told = [...answers.map(({ text }) => text), ...platform.logged.lines].join('\n');
    expect(secretParts.filter((part) => told.includes(part))).toEqual([]);
    expect(await tablesWith(platform.pool, secretParts)).toEqual([]);
  });

  test('have at least 128 random bits if they are webhook tokens', async () => {
    const { id } = await script(platform.admin);
    const tokens = await Promise.all(
      Array.from({ length: 20 }, async () => (await webhook(platform.admin, id)).token),
    );
    expect(new Set(tokens).size).toBe(20);
    const lengths = tokens.map((one) => one.replace(/^[a-z]+_/, '').length);
    // Each character has 6 bits.
    expect(Math.min(...lengths) * 6).toBeGreaterThanOrEqual(128);
  });
});

describe('a page of another site', () => {
  const evil = { Origin: 'https://evil.example' };

  test('gets no cross-origin access', async () => {
    const preflight = { ...evil, 'Access-Control-Request-Method': 'POST' };
    for (const path of ['/api/v1/scripts', '/api/v1/auth/login', '/hooks/x', '/health']) {
      const answer = await fetch(`${platform.origin}${path}`, {
        method: 'OPTIONS',
        headers: preflight,
      });
      const allowed = [...answer.headers.keys()].filter((name) =>
        name.startsWith('access-control'),
      );
      expect([path, allowed]).toEqual([path, []]);
    }
  });

  test('cannot change data or open a WebSocket with the cookie', async () => {
    const login = await platform.anonymous.post('/api/v1/auth/login', administrator);
    const both = sessionHeaders(login);
    const client = platform.anonymous.with({ ...both, ...evil });
    // Only session renewal accepts the cookie, and it checks the origin.
    expect((await client.post('/api/v1/scripts', { name: 'Evil' })).status).toBe(401);
    expect((await client.post('/api/v1/auth/refresh')).status).toBe(403);
    const offered = ['orch.v1', `orch.session.${both['Orch-Session-Key']}`];
    const headers = { Cookie: both.Cookie, ...evil };
    const socket = new WebSocket(`${platform.origin}/ws`, offered, { headers });
    expect(await new FrameLog(socket).closed).toBe(4401);
  });
});

describe('content that a browser could display as a page', () => {
  test('is downloaded as an attachment with an explicit type', async () => {
    const { id } = await script(platform.admin, { name: '<script>alert(1)</script>' });
    const files = `/api/v1/scripts/${id}/files`;
    await platform.admin.putBytes(`${files}/page.html`, '<script>alert(1)</script>');
    const runId = await run(platform.admin, id);
    for (const path of [
      `${files}/page.html`,
      `/api/v1/scripts/${id}/export`,
      `/api/v1/runs/${runId}/logs?format=text`,
      '/api/v1/audit/export',
      '/api/v1/system/config',
    ]) {
      const { headers } = await platform.admin.get(path);
      expect([path, headers.get('content-disposition')]).toEqual([
        path,
        expect.stringMatching(/^attachment; filename=/),
      ]);
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      expect(headers.get('content-type')).not.toContain('text/html');
    }
  });
});

describe('text with characters that move a cursor', () => {
  test.each(['\u001b[2J', 'a\nb', 'a\rb', 'a\u0007', '\u009b1A', 'a\u0000', '\u007f'])(
    'is refused as a name: %j',
    async (name) => {
      const { id } = await script(platform.admin);
      const { admin } = platform;
      const answers = [
        await admin.post('/api/v1/scripts', { name }),
        await admin.patch(`/api/v1/scripts/${id}`, { name }),
        await admin.post('/api/v1/groups', { name }),
        await admin.post('/api/v1/webhooks', { script_id: id, name }),
        await admin.post('/api/v1/auth/tokens', { name, scopes: ['*'] }),
        await admin.post('/api/v1/users', {
          email: 'x@example.com',
          password: 'a good password',
          role: 'viewer',
          name,
        }),
        await admin.post('/api/v1/users', {
          email: `a${name}@example.com`,
          password: 'a good password',
          role: 'viewer',
        }),
      ];
      expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 422));
    },
  );
});

describe('a script that moves to another group', () => {
  test('leaves its runs in the group in which they were queued', async () => {
    const inGroup = async (group: string) =>
      await someone(platform, { role: 'viewer', groupIds: [group] });
    const [before, after] = [await inGroup(groups.custom), await inGroup(groups.bots)];
    const { id } = await script(platform.admin, {
      group_id: groups.custom,
      max_concurrent_runs: 9,
    });
    const early = await run(platform.admin, id);
    await platform.admin.patch(`/api/v1/scripts/${id}`, { group_id: groups.bots });
    const late = await run(platform.admin, id);
    const statuses = async (client: TestClient) => [
      (await client.get(`/api/v1/runs/${early}`)).status,
      (await client.get(`/api/v1/runs/${late}`)).status,
      (await client.get(`/api/v1/scripts/${id}`)).status,
    ];
    expect(await statuses(before)).toEqual([200, 404, 404]);
    expect(await statuses(after)).toEqual([404, 200, 200]);
  });
});

describe('a token with all scopes', () => {
  test('has no more rights than its owner', async () => {
    const developer = await someone(platform, { role: 'developer', groupIds: [groups.custom] });
    const { client } = await apiToken(developer, ['*']);
    const { id } = await script(platform.admin, { group_id: groups.bots });
    expect((await client.get(`/api/v1/scripts/${id}`)).status).toBe(404);
    expect((await client.get('/api/v1/users')).status).toBe(403);
    const admin = await client.post('/api/v1/auth/tokens', { name: 'more', scopes: ['admin'] });
    expect([admin.status, admin.json.code]).toEqual([403, 'forbidden']);
  });
});

test('docs/security.md names existing tests', () => {
  const page = readFileSync(new URL('../../docs/security.md', import.meta.url), 'utf8');
  const rows = page
    .split('\n')
    .filter((line) => line.startsWith('| ') && line.includes('.test.ts'));
  expect(rows.length).toBeGreaterThan(40);
  const lost = rows.flatMap((row) => {
    const [path = '', ...names] = [...row.matchAll(/`([^`]+)`/g)]
      .map(([, text = '']) => text)
      .slice(-2);
    const source = readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
    return names.filter((name) => !source.includes(`'${name}'`)).map((name) => `${path}: ${name}`);
  });
  expect(lost).toEqual([]);
});
