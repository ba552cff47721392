import { TOTP } from 'otpauth';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { tablesWith } from '#infra/testing/stored-text.ts';
import { accountHolder, accountPassword } from '../../testing/people.ts';
import { startTestBackend, type TestBackend } from '../../testing/test-backend.ts';

let platform: TestBackend;
const startMs = Date.parse('2026-01-01T00:00:00Z');
/** Each code is accepted once, so each use needs a later time. */
let nowMs = startMs;
beforeEach(() => {
  nowMs = startMs;
});
beforeAll(async () => {
  platform = await startTestBackend({ clock: { now: () => new Date(nowMs) } });
});
afterAll(() => platform.close());

const login = '/api/v1/auth/login';
const factor = '/api/v1/auth/second-factor';

/** Returns the code of the next time step. */
function nextCode(key: string): string {
  nowMs += 30_000;
  return new TOTP({ secret: key }).generate({ timestamp: nowMs });
}

async function withFactor() {
  const { client, email, id } = await accountHolder(platform);
  const { key } = (await client.post(`${factor}/key`, {})).json;
  const body = { current_password: accountPassword, key, code: nextCode(key) };
  const answer = await client.post(factor, body);
  expect(answer.status, answer.text).toBe(201);
  const { recovery_codes: codes } = answer.json as { recovery_codes: string[] };
  const signIn = async (code?: string) =>
    await platform.anonymous.post(login, {
      email,
      password: accountPassword,
      ...(code !== undefined && { code }),
    });
  return { client, email, id, key, codes, signIn };
}

describe('a sign-in with a second factor', () => {
  test('asks for a code only after a correct password', async () => {
    const { signIn, email, key } = await withFactor();
    const missing = await signIn();
    expect([missing.status, missing.json.code]).toEqual([401, 'second_factor_required']);
    const wrong = await platform.anonymous.post(login, {
      email,
      password: 'wrong password',
      code: nextCode(key),
    });
    expect([wrong.status, wrong.json.code]).toEqual([401, 'unauthenticated']);
    const code = nextCode(key);
    expect((await signIn(`${code.slice(0, 3)}-${code.slice(3)}`)).status).toBe(200);
  });

  test('accepts each one-time code once, and no earlier code afterwards', async () => {
    const { signIn, key } = await withFactor();
    const [first, second] = [nextCode(key), nextCode(key)];
    expect((await signIn(second)).status).toBe(200);
    expect((await signIn(second)).status).toBe(401);
    expect((await signIn(first)).status).toBe(401);
  });

  test('accepts codes of the adjacent time steps, and no others', async () => {
    const { signIn, key } = await withFactor();
    const early = nextCode(key);
    nowMs += 60_000;
    expect((await signIn(early)).status).toBe(401);
    const late = nextCode(key);
    nowMs += 30_000;
    expect((await signIn(late)).status).toBe(200);
  });

  test('accepts each recovery code once, in any notation', async () => {
    const { client, signIn, codes } = await withFactor();
    const [one = '', two = ''] = codes;
    expect(new Set(codes).size).toBe(10);
    expect((await signIn(one)).status).toBe(200);
    expect((await signIn(one)).status).toBe(401);
    expect((await signIn(two.toUpperCase().replaceAll('-', ' '))).status).toBe(200);
    const { json } = await client.get(factor);
    expect(json).toMatchObject({ enabled: true, app: true, recovery_codes_left: 8 });
  });

  test('accepts a recovery code once even in concurrent requests', async () => {
    const { signIn, codes } = await withFactor();
    const answers = await Promise.all([1, 2, 3].map(() => signIn(codes[0])));
    const statuses = answers.map(({ status }) => status);
    expect(statuses.toSorted((one, other) => one - other)).toEqual([200, 401, 401]);
  });

  test('is throttled after wrong codes, even with requests without a code in between', async () => {
    const { signIn, key } = await withFactor();
    for (let count = 0; count < 5; count += 1) {
      expect((await signIn()).status).toBe(401);
      expect((await signIn('000000')).status).toBe(401);
    }
    expect((await signIn(nextCode(key))).status).toBe(429);
  });
});

describe('second-factor settings', () => {
  test('require the password, and a code for changes', async () => {
    const { client, key, codes } = await withFactor();
    const current_password = accountPassword;
    for (const path of ['disable', 'recovery-codes']) {
      const without = await client.post(`${factor}/${path}`, { current_password });
      expect([without.status, without.json.errors[0].pointer]).toEqual([422, '/code']);
      const body = { current_password: 'wrong password', code: nextCode(key) };
      const wrong = await client.post(`${factor}/${path}`, body);
      expect([wrong.status, wrong.json.errors[0].pointer]).toEqual([422, '/current_password']);
    }
    const code = nextCode(key);
    const replaced = await client.post(`${factor}/recovery-codes`, { current_password, code });
    expect(replaced.json.recovery_codes).not.toContain(codes[0]);
    const [recovery] = replaced.json.recovery_codes;
    const disabled = await client.post(`${factor}/disable`, { current_password, code: recovery });
    expect(disabled.status).toBe(204);
    expect((await client.get(factor)).json).toMatchObject({
      enabled: false,
      recovery_codes_left: 0,
    });
  });

  test.each([
    ['a short key', { key: 'ABC' }, '/key'],
    ['a code of another key', { code: '000000' }, '/code'],
    ['a wrong password', { current_password: 'wrong password' }, '/current_password'],
  ])('refuse %s', async (_name, changes, pointer) => {
    const { client } = await accountHolder(platform);
    const { key } = (await client.post(`${factor}/key`, {})).json;
    const body = { current_password: accountPassword, key, code: nextCode(key), ...changes };
    const { status, json } = await client.post(factor, body);
    expect([status, json.errors[0].pointer]).toEqual([422, pointer]);
    expect((await client.get(factor)).json.enabled).toBe(false);
  });

  test('are not stored in plain text in any table', async () => {
    const { key, codes } = await withFactor();
    expect(await tablesWith(platform.pool, [key, ...codes])).toEqual([]);
  });

  test('can be reset by an administrator, which destroys their key', async () => {
    const { id, signIn, email } = await withFactor();
    expect((await platform.admin.get(`/api/v1/users/${id}`)).json.second_factor).toBe(true);
    const reset = await platform.admin.delete(`/api/v1/users/${id}/second-factor`);
    expect(reset.status).toBe(204);
    const me = (await platform.admin.get('/api/v1/auth/me')).json.id;
    const own = await platform.admin.delete(`/api/v1/users/${me}/second-factor`);
    expect(own.status).toBe(403);
    expect((await signIn()).status).toBe(200);
    const { rowCount } = await platform.pool.query('SELECT FROM data_keys WHERE script_id = $1', [
      id,
    ]);
    expect([rowCount, email.length > 0]).toEqual([0, true]);
  });
});
