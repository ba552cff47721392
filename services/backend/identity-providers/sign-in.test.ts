import { Browser } from '#infra/oidc/testing/browser.ts';
import { startTestProvider, testClient, type TestProvider } from '#infra/oidc/testing/provider.ts';
import { generateKeyPair } from 'jose';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { freePorts } from '#infra/testing/free-ports.ts';
import { cookieOf } from '../testing/browser-session.ts';
import { refusals } from '../testing/people.ts';
import { startTestBackend, type TestBackend } from '../testing/test-backend.ts';
import type { TestClient } from '../testing/test-client.ts';

let platform: TestBackend;
let provider: TestProvider;
let providerId: string;
const path = '/api/v1/identity-providers';

beforeAll(async () => {
  // Requires a second factor for password sign-ins, to show that sign-ins at a provider need none.
  platform = await startTestBackend({ secondFactorRoles: ['developer', 'operator', 'viewer'] });
  provider = await startTestProvider([`${platform.origin}/api/v1/auth/oidc/acme/callback`]);
  const created = await platform.admin.post(path, {
    slug: 'acme',
    name: 'Acme',
    issuer: provider.issuer,
    client_id: testClient.clientId,
    client_secret: testClient.clientSecret,
    rules: [
      { claim: 'groups', value: 'ops', role: 'operator' },
      { claim: 'groups', value: 'boss', role: 'administrator', can_audit: true },
    ],
  });
  expect(created.status, created.text).toBe(201);
  providerId = (created.json as { id: string }).id;
});
afterAll(async () => {
  await Promise.all([platform.close(), provider.close()]);
});

const isCallback = (url: URL) => url.pathname.endsWith('/callback');

/** Starts a sign-in, and authenticates at the provider. @returns the redirect from the provider back to the service */
async function authenticate(
  account: string,
  browser = new Browser(),
): Promise<{ browser: Browser; back: URL }> {
  const start = `${platform.origin}/api/v1/auth/oidc/acme/start?next=/runs`;
  const page = await browser.follow(start, () => true);
  expect(page.url.pathname, await page.response.text()).toMatch(/^\/interaction\//);
  const sent = await browser.visit(page.url.href, {
    method: 'POST',
    headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
    body: `account=${account}`,
  });
  const resumed = new URL(sent.headers.get('location') ?? '', page.url);
  const { url } = await browser.follow(resumed.href, (next) => !isCallback(next));
  return { browser, back: url };
}

/** Completes a sign-in.
 *  @returns the URL to which the service redirects the browser */
async function signIn(account: string) {
  const { browser, back } = await authenticate(account);
  return await finish(browser, back);
}

async function finish(browser: Browser, back: URL) {
  const response = await browser.visit(back.href);
  const location = new URL(response.headers.get('location') ?? '', platform.origin);
  const fragment = new URLSearchParams(location.hash.slice(1));
  return { response, location, key: fragment.get('session_key'), next: fragment.get('next') };
}

async function refusedReason(account: string): Promise<string | null> {
  const { response, location } = await signIn(account);
  expect([response.status, location.pathname]).toEqual([303, '/login']);
  return location.searchParams.get('reason');
}

/** Returns a client with the session of a finished sign-in. */
async function clientOf({
  response,
  key,
}: Awaited<ReturnType<typeof signIn>>): Promise<TestClient> {
  const headers = { Cookie: cookieOf(response.headers), 'Orch-Session-Key': key ?? '' };
  const renewed = await platform.anonymous.post('/api/v1/auth/refresh', {}, { headers });
  expect(renewed.status, renewed.text).toBe(200);
  const { access_token: token } = renewed.json as { access_token: string };
  return platform.anonymous.with({ Authorization: `Bearer ${token}` });
}

const verified = (email: string, more: object = {}) => ({ email, email_verified: true, ...more });

describe('a sign-in at an identity provider', () => {
  test('creates an account with the role of the matching rule', async () => {
    provider.accounts.set('olga', verified('Olga@acme.example', { name: 'Olga', groups: ['ops'] }));
    const signedIn = await signIn('olga');
    expect([signedIn.response.status, signedIn.location.pathname, signedIn.next]).toEqual([
      303,
      '/login',
      '/runs',
    ]);
    const me = await (await clientOf(signedIn)).get('/api/v1/auth/me');
    expect(me.json).toMatchObject({
      email: 'olga@acme.example',
      name: 'Olga',
      role: 'operator',
      second_factor_missing: false,
    });
  });

  test('signs in to the linked account, even after its email address has changed', async () => {
    provider.accounts.set('olga', verified('olga@other.example', { groups: ['ops'] }));
    const me = await (await clientOf(await signIn('olga'))).get('/api/v1/auth/me');
    expect(me.json).toMatchObject({ email: 'olga@acme.example' });
  });

  test('updates the role of the account', async () => {
    provider.accounts.set('olga', verified('olga@acme.example', { groups: ['boss'] }));
    const me = await (await clientOf(await signIn('olga'))).get('/api/v1/auth/me');
    expect(me.json).toMatchObject({ role: 'administrator', can_audit: true });
  });

  test('is linked to the account with the same verified address', async () => {
    const email = 'local@acme.example';
    const body = { email, role: 'viewer', password: 'correct horse battery staple' };
    const { json: account } = await platform.admin.post('/api/v1/users', body);
    provider.accounts.set('leo', verified(email, { groups: ['ops'] }));
    const me = await (await clientOf(await signIn('leo'))).get('/api/v1/auth/me');
    expect(me.json).toMatchObject({ id: account.id, role: 'operator' });
    const { json } = await platform.admin.get(`/api/v1/users/${account.id}/identities`);
    expect(json.items).toEqual([
      { identity_provider_id: providerId, issuer: provider.issuer, subject: 'leo' },
    ]);
  });

  test('is not linked to an account again if the provider assigned the address to another user', async () => {
    provider.accounts.set('new-leo', verified('local@acme.example', { groups: ['ops'] }));
    expect(await refusedReason('new-leo')).toBe('address_taken');
  });

  test.each([
    ['without a role', 'noah', { email: 'noah@acme.example', email_verified: true }, 'no_role'],
    [
      'with an unverified address',
      'uma',
      { email: 'admin@example.com', email_verified: false, groups: ['boss'] },
      'address_unverified',
    ],
    ['without an address', 'ana', { groups: ['ops'] }, 'address_unverified'],
  ])('is refused %s', async (_name, account, claims, reason) => {
    provider.accounts.set(account, claims);
    expect(await refusedReason(account)).toBe(reason);
  });

  test('is refused for a disabled account', async () => {
    provider.accounts.set('dora', verified('dora@acme.example', { groups: ['ops'] }));
    const { json } = await (await clientOf(await signIn('dora'))).get('/api/v1/auth/me');
    await platform.admin.patch(`/api/v1/users/${json.id}`, { disabled: true });
    expect(await refusedReason('dora')).toBe('account_disabled');
  });

  test('is refused when the user cancels at the provider', async () => {
    expect(await refusedReason('')).toBe('declined');
  });

  test('is recorded in the audit trail if it is refused', async () => {
    const operations = (await refusals(platform)).map((one) => one.operation);
    expect(operations).toContain('GET /api/v1/auth/oidc/{provider}/callback');
  });

  test.each(['a b@acme.example', `${'a'.repeat(250)}@acme.example`])(
    'is refused with the unusable address %j',
    async (email) => {
      provider.accounts.set('odd', verified(email, { groups: ['ops'] }));
      expect(await refusedReason('odd')).toBe('address_unverified');
    },
  );
});

describe('a forged response', () => {
  test('is refused in a browser that did not start the sign-in', async () => {
    provider.accounts.set('olga', verified('olga@acme.example', { groups: ['ops'] }));
    const { back } = await authenticate('olga');
    const { location } = await finish(new Browser(), back);
    expect(location.searchParams.get('reason')).toBe('expired');
  });

  test('is refused with another state', async () => {
    const { browser, back } = await authenticate('olga');
    back.searchParams.set('state', 'x'.repeat(43));
    const { location } = await finish(browser, back);
    expect(location.searchParams.get('reason')).toBe('expired');
  });

  test('is refused from another issuer', async () => {
    const { browser, back } = await authenticate('olga');
    back.searchParams.set('iss', 'https://evil.example');
    const { location } = await finish(browser, back);
    expect(location.searchParams.get('reason')).toBe('provider_failed');
  });

  test('is refused with an ID token that another key has signed', async () => {
    const { browser, back } = await authenticate('olga');
    const { privateKey } = await generateKeyPair('RS256');
    provider.signIdTokensWith(privateKey);
    const { location } = await finish(browser, back);
    provider.signIdTokensWith(undefined);
    expect(location.searchParams.get('reason')).toBe('provider_failed');
  });

  test('is refused with a code that was used before', async () => {
    const { browser, back } = await authenticate('olga');
    expect((await finish(browser, back)).key).not.toBeNull();
    const { location } = await finish(browser, back);
    expect(location.searchParams.get('reason')).toBe('provider_failed');
  });

  test('with the code of another sign-in is refused', async () => {
    const victim = await authenticate('olga');
    const attacker = await authenticate('leo');
    victim.back.searchParams.set('code', attacker.back.searchParams.get('code') ?? '');
    const { location } = await finish(victim.browser, victim.back);
    expect(location.searchParams.get('reason')).toBe('provider_failed');
  });
});

describe('back-channel logout', () => {
  const logOut = (token: string) =>
    platform.anonymous.send(
      'POST',
      '/api/v1/auth/oidc/acme/backchannel-logout',
      `logout_token=${token}`,
      { headers: { 'Content-Type': 'application/x-www-form-urlencoded' } },
    );

  test('ends all sessions that the user opened through this provider', async () => {
    provider.accounts.set('rita', verified('rita@acme.example', { groups: ['ops'] }));
    const [rita, olga] = [
      await clientOf(await signIn('rita')),
      await clientOf(await signIn('olga')),
    ];
    expect((await logOut(await provider.logoutToken({ sub: 'rita' }))).status).toBe(200);
    expect((await rita.get('/api/v1/auth/me')).status).toBe(401);
    expect((await olga.get('/api/v1/auth/me')).status).toBe(200);
  });

  test.each([
    ['for another client', { sub: 'olga', aud: 'other' }],
    ['of another issuer', { sub: 'olga', iss: 'https://evil.example' }],
    ['that is an ID token', { sub: 'olga', events: {} }],
    ['with a nonce', { sub: 'olga', nonce: 'n' }],
    ['without a subject', {}],
  ])('refuses a token %s', async (_name, changes) => {
    expect((await logOut(await provider.logoutToken(changes))).status).toBe(401);
  });

  test('refuses a token signed with another key', async () => {
    const { privateKey } = await generateKeyPair('RS256');
    const forged = await provider.logoutToken({ sub: 'olga' }, privateKey);
    expect((await logOut(forged)).status).toBe(401);
  });
});

test("signing out at a provider opens the provider's sign-out page", async () => {
  const response = await new Browser().visit(`${platform.origin}/api/v1/auth/oidc/acme/logout`);
  const location = new URL(response.headers.get('location') ?? '');
  expect([response.status, location.origin]).toEqual([303, provider.issuer]);
  expect(location.searchParams.get('client_id')).toBe(testClient.clientId);
  expect((await fetch(location)).status).toBe(200);
  const unknown = await new Browser().visit(`${platform.origin}/api/v1/auth/oidc/none/logout`);
  expect(unknown.status).toBe(404);
});

describe('an identity provider', () => {
  test('shows the result that a sign-in with pasted claims would have', async () => {
    const claims = verified('new@acme.example', { sub: 'new', groups: ['ops'] });
    const { json } = await platform.admin.post(`${path}/${providerId}/try`, { claims });
    expect(json).toMatchObject({ outcome: 'create', matched_rules: [0], role: 'operator' });
    const refused = await platform.admin.post(`${path}/${providerId}/try`, {
      token: await provider.logoutToken({ sub: 'unknown-user' }),
    });
    expect(refused.json).toMatchObject({ outcome: 'refuse', reason: 'no_role' });
  });

  test('never returns its client secret', async () => {
    const { text, json } = await platform.admin.get(path);
    expect(json.items).toMatchObject([{ slug: 'acme', has_client_secret: true }]);
    expect(text).not.toContain(testClient.clientSecret);
  });

  test('requires the client secret again when its issuer changes', async () => {
    const issuer = 'https://id.example.com';
    const changed = await platform.admin.patch(`${path}/${providerId}`, { issuer });
    expect([changed.status, changed.json.errors[0].pointer]).toEqual([422, '/client_secret']);
  });

  test('that is unreachable leads the user back to the sign-in page', async () => {
    const body = { slug: 'gone', name: 'Gone', client_id: 'x' };
    const issuer = `http://127.0.0.1:${(await freePorts(1))[0]}`;
    await platform.admin.post(path, { ...body, issuer });
    const start = `${platform.origin}/api/v1/auth/oidc/gone/start`;
    const { url } = await new Browser().follow(start, () => false);
    expect(url.pathname + url.search).toBe('/login?reason=provider_failed');
  });

  test('that is deleted or disabled is not offered for sign-in', async () => {
    const slugs = async () =>
      (
        (await platform.anonymous.get('/api/v1/auth/providers')).json.items as { slug: string }[]
      ).map(({ slug }) => slug);
    expect(await slugs()).toEqual(['acme', 'gone']);
    await platform.admin.patch(`${path}/${providerId}`, { enabled: false });
    const { json } = await platform.admin.get(path);
    const gone = (json.items as { id: string; slug: string }[]).find(({ slug }) => slug === 'gone');
    expect((await platform.admin.delete(`${path}/${gone?.id}`)).status).toBe(204);
    expect(await slugs()).toEqual([]);
    expect(
      (await new Browser().visit(`${platform.origin}/api/v1/auth/oidc/acme/start`)).status,
    ).toBe(404);
  });
});
