import { TOTP } from 'otpauth';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { TestAuthenticator } from '../../testing/authenticator.ts';
import { accountHolder, accountPassword, groups } from '../../testing/people.ts';
import { startTestBackend, type TestBackend } from '../../testing/test-backend.ts';
import { siteOf } from './passkeys.ts';

const origin = 'https://orchestrator.example.com';
let platform: TestBackend;
beforeAll(async () => {
  platform = await startTestBackend({ publicUrl: origin, secondFactorRoles: ['developer'] });
});
afterAll(() => platform.close());

const factor = '/api/v1/auth/second-factor';
const login = '/api/v1/auth/login';
const current_password = accountPassword;

/** Creates an account with a passkey whose counter starts at 1. */
async function withPasskey(settings?: Parameters<typeof accountHolder>[1]) {
  const { client, email, id } = await accountHolder(platform, settings);
  const key = new TestAuthenticator();
  const challenge = (await client.post(`${factor}/passkeys/options`, {})).json.challenge as string;
  const body = { name: 'Laptop', current_password };
  const credential = key.create({ challenge, origin, counter: 1 });
  const added = await client.post(`${factor}/passkeys`, { ...body, credential });
  expect(added.status, added.text).toBe(201);
  const credentials = { email, password: accountPassword };
  const challengeOf = async () =>
    (await platform.anonymous.post(`${factor}/challenge`, credentials)).json.challenge as string;
  let counter = 1;
  const sign = async (changes: Partial<Parameters<TestAuthenticator['get']>[0]> = {}) => {
    counter += 1;
    return key.get({ challenge: await challengeOf(), origin, counter, ...changes });
  };
  const signIn = (passkey: object) => platform.anonymous.post(login, { ...credentials, passkey });
  const { id: passkeyId, recovery_codes: codes } = added.json as {
    id: string;
    recovery_codes: string[];
  };
  return { client, email, id, key, passkeyId, codes, challengeOf, sign, signIn, credentials };
}

test('a renamed passkey still works for sign-in', async () => {
  const { client, passkeyId, sign, signIn } = await withPasskey();
  const renamed = await client.patch(`${factor}/passkeys/${passkeyId}`, { name: 'Phone' });
  expect(renamed.status, renamed.text).toBe(204);
  expect((await client.get(factor)).json.passkeys).toMatchObject([{ name: 'Phone' }]);
  expect((await signIn(await sign())).status).toBe(200);
  const other = await withPasskey();
  const foreign = await other.client.patch(`${factor}/passkeys/${passkeyId}`, { name: 'Mine' });
  expect(foreign.status).toBe(404);
});

describe('a sign-in with a passkey', () => {
  test('requires the passkey after the password, and records the use of the passkey', async () => {
    const { client, credentials, sign, signIn, codes } = await withPasskey();
    expect(codes).toHaveLength(10);
    const without = await platform.anonymous.post(login, credentials);
    expect([without.status, without.json.code]).toEqual([401, 'second_factor_required']);
    const before = (await client.get(factor)).json;
    expect(before).toMatchObject({ enabled: true, app: false, recovery_codes_left: 10 });
    expect(before.passkeys).toMatchObject([{ name: 'Laptop', last_used_at: null }]);
    expect((await signIn(await sign())).status).toBe(200);
    const [used] = (await client.get(factor)).json.passkeys;
    expect(Date.parse(used.last_used_at)).toBeGreaterThan(0);
  });

  test.each([
    ['another origin', { origin: 'https://evil.example.com' }, 'another origin'],
    ['another host', { rpId: 'evil.example.com' }, 'incorrect signature'],
    ['an unknown challenge', { challenge: 'AAAA' }, 'challenge'],
    ['an older counter', { counter: 1 }, 'may have been copied'],
  ])('is refused with %s', async (_name, changes, detail) => {
    const { sign, signIn } = await withPasskey();
    const { status, json } = await signIn(await sign(changes));
    expect([status, json.code]).toEqual([401, 'second_factor_required']);
    expect(json.detail).toContain(detail);
  });

  test('is refused with a reused signature or another key', async () => {
    const { sign, signIn, key, challengeOf } = await withPasskey();
    const passkey = await sign();
    expect((await signIn(passkey)).status).toBe(200);
    expect((await signIn(passkey)).json.detail).toContain('challenge');
    const { signature } = new TestAuthenticator().get({ challenge: await challengeOf(), origin });
    const forged = { ...key.get({ challenge: await challengeOf(), origin }), signature };
    expect((await signIn(forged)).json.detail).toContain('incorrect signature');
  });

  test('is refused with a passkey or challenge of another account, or with a challenge for another purpose', async () => {
    const [one, other] = [await withPasskey(), await withPasskey()];
    expect((await one.signIn(await other.sign())).json.detail).toContain('not a passkey of this');
    const foreign = await one.sign({ challenge: await other.challengeOf() });
    expect((await one.signIn(foreign)).json.detail).toContain('challenge');
    const options = (await one.client.post(`${factor}/passkeys/options`, {})).json;
    const misused = await one.sign({ challenge: options.challenge });
    expect((await one.signIn(misused)).json.detail).toContain('challenge');
  });

  test('counts a failed attempt like a wrong code', async () => {
    const { sign, signIn } = await withPasskey();
    for (let count = 0; count < 5; count += 1) await signIn(await sign({ challenge: 'AAAA' }));
    const passkey = await sign({ challenge: 'AAAA' });
    expect((await signIn(passkey)).status).toBe(429);
  });
});

describe('a challenge', () => {
  test('requires the password, and is null without passkeys', async () => {
    const { email } = await accountHolder(platform);
    const path = `${factor}/challenge`;
    const wrong = await platform.anonymous.post(path, { email, password: 'wrong password' });
    expect([wrong.status, wrong.json.code]).toEqual([401, 'unauthenticated']);
    const none = await platform.anonymous.post(path, { email, password: accountPassword });
    expect(none.json).toEqual({ challenge: null, rp_id: null, passkeys: [] });
  });

  test('is null if the dashboard is opened at an IP address', () => {
    expect(siteOf('http://localhost:9401')?.rpId).toBe('localhost');
    expect(siteOf('https://orch.example.com/x')?.origin).toBe('https://orch.example.com');
    expect([siteOf('http://127.0.0.1:9401'), siteOf('http://[::1]:9401')]).toEqual([
      undefined,
      undefined,
    ]);
  });
});

describe('passkeys', () => {
  test('confirm changes to the second factor', async () => {
    const { client, sign, signIn, passkeyId } = await withPasskey();
    const path = `${factor}/recovery-codes`;
    const foreign = await sign({ origin: 'https://evil.example.com' });
    const refused = await client.post(path, { current_password, passkey: foreign });
    expect([refused.status, refused.json.errors[0].pointer]).toEqual([422, '/passkey']);
    const replaced = await client.post(path, { current_password, passkey: await sign() });
    expect(replaced.json.recovery_codes).toHaveLength(10);
    const passkey = await sign();
    const remove = `${factor}/passkeys/${passkeyId}/remove`;
    expect((await client.post(remove, { current_password })).status).toBe(422);
    expect((await client.post(remove, { current_password, passkey })).status).toBe(204);
    expect((await client.get(factor)).json).toMatchObject({ enabled: false, passkeys: [] });
    expect((await client.post(remove, { current_password })).status).toBe(404);
    expect((await signIn(passkey)).status).toBe(200);
  });

  test('can be added to an existing second factor only after confirmation with that factor', async () => {
    const { client, sign } = await withPasskey();
    const { challenge, existing } = (await client.post(`${factor}/passkeys/options`, {})).json;
    expect(existing).toHaveLength(1);
    const credential = new TestAuthenticator().create({ challenge, origin });
    const body = { name: 'Phone', current_password, credential };
    expect((await client.post(`${factor}/passkeys`, body)).json.errors[0].pointer).toBe('/code');
    const confirmed = { ...body, passkey: await sign() };
    const added = await client.post(`${factor}/passkeys`, confirmed);
    expect([added.status, added.json.recovery_codes]).toEqual([201, []]);
    const again = { ...body, passkey: await sign() };
    const replayed = await client.post(`${factor}/passkeys`, again);
    expect(replayed.json.errors[0].pointer).toBe('/credential');
  });

  test('confirm the addition of an authenticator app', async () => {
    const { client, sign, codes } = await withPasskey();
    const { key } = (await client.post(`${factor}/key`, {})).json;
    const body = { current_password, key, code: new TOTP({ secret: key }).generate() };
    expect((await client.post(factor, body)).json.errors[0].pointer).toBe('/code');
    const enabled = await client.post(factor, { ...body, passkey: await sign() });
    expect([enabled.status, enabled.json.recovery_codes]).toEqual([201, []]);
    const left = { enabled: true, app: true, recovery_codes_left: codes.length };
    expect((await client.get(factor)).json).toMatchObject(left);
  });

  test('satisfy a role that requires a second factor, which prevents removal of the last passkey', async () => {
    const settings = { role: 'developer', groupIds: [groups.custom] } as const;
    const { client, sign, passkeyId } = await withPasskey(settings);
    expect((await client.get('/api/v1/scripts')).status).toBe(200);
    const body = { current_password, passkey: await sign() };
    const kept = await client.post(`${factor}/passkeys/${passkeyId}/remove`, body);
    expect([kept.status, kept.json.code]).toEqual([403, 'forbidden']);
  });
});
