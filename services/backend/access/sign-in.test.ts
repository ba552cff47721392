import { SignJWT } from 'jose/jwt/sign';
import { UnsecuredJWT } from 'jose/jwt/unsecured';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sessionHeaders } from '../testing/browser-session.ts';
import { groups, refusals, someone } from '../testing/people.ts';
import { administrator, startTestBackend, type TestBackend } from '../testing/test-backend.ts';
import { statusesOf, TestClient } from '../testing/test-client.ts';

let platform: TestBackend;
beforeAll(async () => {
  platform = await startTestBackend();
});
afterAll(() => platform.close());

const login = '/api/v1/auth/login';
const from = (ip: string) => platform.anonymous.with({ 'X-Forwarded-For': ip });

describe('the first administrator', () => {
  test('receives a token with their identity at sign-in', async () => {
    const me = await platform.admin.get('/api/v1/auth/me');
    expect(me.json).toMatchObject({ email: administrator.email, role: 'administrator' });
  });

  test('gets a plain cookie over HTTP that page scripts cannot read', async () => {
    const answer = await platform.anonymous.post(login, administrator);
    expect(answer.headers.get('set-cookie')).toMatch(
      /^orch_refresh=[\w.-]+; Path=\/; Max-Age=1209600; HttpOnly; SameSite=Strict$/,
    );
    expect(answer.json).toMatchObject({ token_type: 'bearer', expires_in: 900 });
  });

  test('gets a host-bound cookie over HTTPS', async () => {
    const answer = await platform.anonymous
      .with({ 'X-Forwarded-Proto': 'https' })
      .post(login, administrator);
    expect(answer.headers.get('set-cookie')).toMatch(/^__Host-orch_refresh=.*; Secure$/);
  });

  test('can sign in with the email address in capitals', async () => {
    await platform.anonymous.signIn({ ...administrator, email: 'ADMIN@Example.com' });
  });
});

describe('a wrong password', () => {
  test('gets the same response as an unknown account', async () => {
    const wrong = await from('192.0.2.1').post(login, { ...administrator, password: 'wrong' });
    const unknown = await from('192.0.2.1').post(login, { email: 'no@x', password: 'wrong' });
    expect([wrong.status, wrong.json.code]).toEqual([401, 'unauthenticated']);
    expect({ ...unknown.json, trace_id: '' }).toEqual({ ...wrong.json, trace_id: '' });
    const recorded = await refusals(platform);
    expect(recorded.map((one) => one.resource)).toContainEqual(expect.stringMatching(/^user-/));
  });

  test('over 72 bytes is refused instead of truncated', async () => {
    const answer = await platform.anonymous.post(login, {
      ...administrator,
      password: 'ä'.repeat(37),
    });
    expect([answer.status, answer.json.errors[0].pointer]).toEqual([422, '/password']);
  });

  test('is throttled at the sixth attempt', async () => {
    const client = from('192.0.2.2');
    const body = { email: 'target@example.com', password: 'wrong' };
    const tries = await Promise.all(Array.from({ length: 6 }, () => client.post(login, body)));
    expect(statusesOf(tries)).toEqual([401, 401, 401, 401, 401, 429]);
    const late = await client.post(login, body);
    expect(late.json.code).toBe('rate_limited');
    expect(Number(late.headers.get('retry-after'))).toBeGreaterThan(290);
    expect(late.headers.get('ratelimit-policy')).toBe('"login";q=5;w=300');
  });

  test('throttles an address after failures for twenty accounts', async () => {
    const client = from('192.0.2.3');
    const attempt = (index: number) =>
      client.post(login, { email: `unknown${index}@example.com`, password: 'wrong' });
    const tries = await Promise.all(Array.from({ length: 23 }, (_, index) => attempt(index)));
    expect(statusesOf(tries)).toEqual([...Array<number>(20).fill(401), 429, 429, 429]);
  });

  test('from other addresses does not lock the account out at its usual address', async () => {
    await someone(platform, { role: 'viewer', groupIds: [groups.custom] });
    const email = 'owner@example.com';
    const body = { email, password: 'a good password', role: 'viewer' };
    await platform.admin.post('/api/v1/users', body);
    const credentials = { email, password: 'a good password' };
    await from('192.0.2.10').signIn(credentials);
    for (let index = 0; index < 5; index += 1) {
      await from('192.0.2.66').post(login, { email, password: 'wrong' });
    }
    expect((await from('192.0.2.66').post(login, credentials)).status).toBe(429);
    expect((await from('192.0.2.77').post(login, credentials)).status).toBe(429);
    expect((await from('192.0.2.10').post(login, credentials)).status).toBe(200);
  });
});

describe('a signed-in user', () => {
  test('loses access immediately after signing out', async () => {
    const client = await platform.anonymous.signIn(administrator);
    const out = await client.post('/api/v1/auth/logout');
    expect(out.status).toBe(204);
    expect(out.headers.get('set-cookie')).toContain('Max-Age=0');
    expect((await client.get('/api/v1/auth/me')).status).toBe(401);
  });

  test('loses access immediately when the account is disabled', async () => {
    const client = await someone(platform, { role: 'viewer', groupIds: [] });
    const { id } = (await client.get('/api/v1/auth/me')).json as { id: string };
    await platform.pool.query('UPDATE users SET disabled = true WHERE user_id = $1', [id]);
    expect((await client.get('/api/v1/auth/me')).status).toBe(401);
  });

  test('cannot refresh without a cookie', async () => {
    expect((await platform.anonymous.post('/api/v1/auth/refresh')).status).toBe(401);
  });
});

describe('a page of another origin', () => {
  const pages: readonly (readonly [string, (own: string) => Record<string, string>])[] = [
    ['another site', () => ({ Origin: 'https://evil.example' })],
    ['another port of this host', () => ({ Origin: 'http://127.0.0.1:1' })],
    ['another name of this host', (own) => ({ Origin: own.replace('127.0.0.1', 'localhost') })],
    ['a frame without an origin', () => ({ Origin: 'null' })],
    ['what the browser calls same-site', () => ({ 'Sec-Fetch-Site': 'same-site' })],
    ['what the browser calls cross-site', () => ({ 'Sec-Fetch-Site': 'cross-site' })],
  ];

  test.each(pages)(
    'cannot sign a user in or out, or renew a session: %s',
    async (_name, headersOf) => {
      const signedIn = await platform.anonymous.post(login, administrator);
      const { access_token: token } = signedIn.json as { access_token: string };
      const own = new TestClient(platform.origin, token, sessionHeaders(signedIn));
      const page = own.with(headersOf(platform.origin));
      const answers = [
        await page.post(login, administrator),
        await page.post('/api/v1/auth/refresh'),
        await page.post('/api/v1/auth/logout'),
      ];
      expect(answers.map(({ status }) => status)).toEqual([403, 403, 403]);
      expect(answers.map(({ headers }) => headers.get('set-cookie'))).toEqual([null, null, null]);
      const dashboard = own.with({ Origin: platform.origin, 'Sec-Fetch-Site': 'same-origin' });
      expect((await dashboard.post('/api/v1/auth/refresh')).status).toBe(200);
      expect((await dashboard.post('/api/v1/auth/logout')).status).toBe(204);
    },
  );
});

describe('a token that the platform did not sign', () => {
  const claims = { sid: '019aa3f0-7788-7abc-8def-0123456789ab' };
  const signed = (change: (jwt: SignJWT) => SignJWT = (jwt) => jwt, header: object = {}) =>
    change(
      new SignJWT(claims)
        .setProtectedHeader({ alg: 'HS256', typ: 'at+jwt', ...header })
        .setIssuer('orchestrator')
        .setAudience('orchestrator-api')
        .setSubject('019aa3f0-7788-7abc-8def-0123456789ab')
        .setIssuedAt()
        .setExpirationTime('5m'),
    ).sign(new Uint8Array(32).fill(7));

  test.each([
    ['forged', () => signed()],
    ['with the algorithm none', () => Promise.resolve(new UnsecuredJWT(claims).encode())],
    ['nonsense', () => Promise.resolve('abc.def.ghi')],
    ['a refresh token', () => Promise.resolve(`${claims.sid}.${'a'.repeat(43)}`)],
  ])('is refused with 401: %s', async (_name, make) => {
    const answer = await new TestClient(platform.origin, await make()).get('/api/v1/scripts');
    expect([answer.status, answer.json.code]).toEqual([401, 'unauthenticated']);
    expect(answer.headers.get('www-authenticate')).toBe('Bearer');
  });
});

describe('a token signed with the correct key', () => {
  const tokenKey = new Uint8Array(32).fill(9);
  let own: TestBackend;
  let sid: string;
  let sub: string;
  beforeAll(async () => {
    own = await startTestBackend({ tokenKey });
    const claims = await own.services.tokens.verify(own.admin.token ?? '');
    sid = claims?.sessionId ?? '';
    sub = claims?.userId ?? '';
  });
  afterAll(() => own.close());

  const make = (header: object, payload: object, expiry: string) =>
    new SignJWT({ sid, iss: 'orchestrator', aud: 'orchestrator-api', sub, ...payload })
      .setProtectedHeader({ alg: 'HS256', typ: 'at+jwt', ...header })
      .setIssuedAt()
      .setExpirationTime(expiry)
      .sign(tokenKey);

  test('is accepted when all claims are valid', async () => {
    const client = new TestClient(own.origin, await make({}, {}, '5m'));
    expect((await client.get('/api/v1/auth/me')).status).toBe(200);
  });

  test.each([
    ['it has expired', {}, {}, '-1s'],
    ['its type is wrong', { typ: 'JWT' }, {}, '5m'],
    ['its header names a key', { kid: '../../etc/passwd' }, {}, '5m'],
    ['its header has a key URL', { jku: 'https://evil.example/keys' }, {}, '5m'],
    ['its issuer is wrong', {}, { iss: 'evil' }, '5m'],
    ['its audience is wrong', {}, { aud: 'evil' }, '5m'],
    ['it names no session', {}, { sid: undefined }, '5m'],
    ['its session is unknown', {}, { sid: '019aa3f0-7788-7abc-8def-0123456789ab' }, '5m'],
    ['it names another user', {}, { sub: '019aa3f0-7788-7abc-8def-0123456789ab' }, '5m'],
    ['its session ID is malformed', {}, { sid: "'; DROP TABLE users" }, '5m'],
    ['its algorithm is wrong', { alg: 'HS512' }, {}, '5m'],
  ])('is refused with 401 when %s', async (_name, header, payload, expiry) => {
    const token = await make(header, payload, expiry);
    const answer = await new TestClient(own.origin, token).get('/api/v1/auth/me');
    expect(answer.status).toBe(401);
  });
});
