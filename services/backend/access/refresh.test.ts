import type { Clock } from '#domain/ports/clock.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventsVisible } from '#infra/testing/platform.ts';
import { cookieOf, sessionHeaders } from '../testing/browser-session.ts';
import { groups, refusals, someone } from '../testing/people.ts';
import { administrator, startTestBackend, type TestBackend } from '../testing/test-backend.ts';
import { TestClient } from '../testing/test-client.ts';

let nowMs = Date.UTC(2026, 10, 21, 2, 31);
const clock: Clock = { now: () => new Date(nowMs) };
let platform: TestBackend;
beforeAll(async () => {
  platform = await startTestBackend({ clock });
});
afterAll(() => platform.close());

const password = 'a good password';

async function person() {
  // The clock advances by days, so an earlier access token has expired.
  const admin = await platform.anonymous.signIn(administrator);
  const wanted = { role: 'viewer', groupIds: [groups.custom] } as const;
  const client = await someone({ ...platform, admin }, wanted);
  return (await client.get('/api/v1/auth/me')).json as { email: string };
}

type Halves = ReturnType<typeof sessionHeaders>;

const refresh = (headers: Partial<Halves> & Record<string, string>) =>
  platform.anonymous.with(headers).post('/api/v1/auth/refresh');
const signedIn = async (): Promise<Halves> => {
  const { email } = await person();
  return sessionHeaders(await platform.anonymous.post('/api/v1/auth/login', { email, password }));
};
const sessionOf = ({ Cookie }: Halves): string =>
  `session-${Cookie.split('=')[1]?.slice(0, 36) ?? ''}`;
const recorded = async (session: Halves) => {
  const { rows } = await platform.pool.query<{ type: string }>(
    `SELECT type FROM events WHERE stream_id = $1 ORDER BY version`,
    [sessionOf(session)],
  );
  return rows.map(({ type }) => type);
};

describe('a refresh token', () => {
  test('returns the same new token to two tabs that use it concurrently', async () => {
    const first = await signedIn();
    const [one, other] = await Promise.all([refresh(first), refresh(first)]);
    expect([one.status, other.status]).toEqual([200, 200]);
    expect(cookieOf(one.headers)).toBe(cookieOf(other.headers));
    nowMs += 9_999;
    expect(cookieOf((await refresh(first)).headers)).toBe(cookieOf(one.headers));
    expect((await refresh({ ...first, Cookie: cookieOf(one.headers) })).status).toBe(200);
  });

  test('ends the session for all clients when reused after ten seconds', async () => {
    const first = await signedIn();
    const traded = await refresh(first);
    nowMs += 10_000;
    expect((await refresh(first)).status).toBe(401);
    expect((await refresh({ ...first, Cookie: cookieOf(traded.headers) })).status).toBe(401);
    const client = new TestClient(platform.origin, traded.json.access_token);
    expect((await client.get('/api/v1/auth/me')).status).toBe(401);
  });

  test('is exchanged with a response position that includes the latest event', async () => {
    const session = await signedIn();
    await eventsVisible(platform.pool);
    const { rows } = await platform.pool.query<{ newest: number }>(
      'SELECT max(global_position) AS newest FROM events',
    );
    expect((await refresh(session)).json.position).toBe(rows[0]?.newest);
  });

  test('adds an audit entry when reused, but not when used once', async () => {
    const first = await signedIn();
    await refresh({ ...first, Cookie: cookieOf((await refresh(first)).headers) });
    expect(await recorded(first)).toEqual(['SessionOpened']);
    await refresh(first);
    expect(await recorded(first)).toEqual(['SessionOpened', 'SessionClosed']);
  });

  test('expires after fourteen days without use', async () => {
    const first = await signedIn();
    nowMs += 14 * 24 * 60 * 60 * 1000;
    expect((await refresh(first)).status).toBe(401);
  });

  test('is refused as an access token', async () => {
    const token = (await signedIn()).Cookie.split('=')[1];
    const client = new TestClient(platform.origin, token);
    expect((await client.get('/api/v1/auth/me')).status).toBe(401);
  });
});

describe('same-named cookies from a program on another port', () => {
  test.each(['before', 'after'])('have no effect when sent %s the valid cookie', async (place) => {
    const own = await signedIn();
    const [name, text = ''] = own.Cookie.split('=');
    const others = [
      `${name}=${'x'.repeat(36)}.${'y'.repeat(43)}`,
      `${name}=deep`,
      (await signedIn()).Cookie,
    ].join('; ');
    const ofOwnSession = `${name}=${text.slice(0, 36)}.${'z'.repeat(43)}`;
    // Browsers send the cookie with the longest path first. The correct cookie has the shortest path.
    const Cookie =
      place === 'before' ? `${ofOwnSession}; ${others}; ${own.Cookie}` : `${own.Cookie}; ${others}`;
    const answer = await refresh({ ...own, Cookie });
    expect(answer.status, answer.text).toBe(200);
    expect(cookieOf(answer.headers).slice(0, name!.length + 37)).toBe(
      own.Cookie.slice(0, name!.length + 37),
    );
  });
});

describe('a session cookie without its key', () => {
  test.each([
    ['no key', () => ({})],
    [
      'the key of another session',
      (other: Halves) => ({ 'Orch-Session-Key': other['Orch-Session-Key'] }),
    ],
    ['invalid text as key', () => ({ 'Orch-Session-Key': 'x' })],
  ])('cannot renew the session or sign the user out: %s', async (_name, keyOf) => {
    const own = await signedIn();
    const key = keyOf(await signedIn());
    const traded = await refresh(own);
    nowMs += 10_000;
    // The current token, and a token that was exchanged some time ago.
    for (const Cookie of [cookieOf(traded.headers), own.Cookie]) {
      const answer = await refresh({ Cookie, ...key, Origin: platform.origin });
      expect([answer.status, answer.headers.get('set-cookie')]).toEqual([401, null]);
    }
    expect(await recorded(own)).toEqual(['SessionOpened']);
    expect((await refresh({ ...own, Cookie: cookieOf(traded.headers) })).status).toBe(200);
  });

  test('is reported in the audit trail with the session', async () => {
    const { Cookie, ...key } = await signedIn();
    await refresh({ Cookie });
    const all = await refusals(platform);
    expect(all.map(({ resource }) => resource)).toContain(sessionOf({ Cookie, ...key }));
  });
});

describe('a session key', () => {
  test('cannot renew the session without the cookie', async () => {
    const { 'Orch-Session-Key': key } = await signedIn();
    expect((await refresh({ 'Orch-Session-Key': key })).status).toBe(401);
  });

  test('is stored only as a hash', async () => {
    const own = await signedIn();
    const { rows } = await platform.pool.query<{ key_hash: string }>(
      'SELECT key_hash FROM session_tokens WHERE session_id = $1',
      [sessionOf(own).slice('session-'.length)],
    );
    expect(rows).toEqual([{ key_hash: expect.stringMatching(/^[0-9a-f]{64}$/) }]);
    expect(rows[0]?.key_hash).not.toContain(own['Orch-Session-Key']);
  });

  test('is missing from a session of an older release, so the user must sign in again', async () => {
    const own = await signedIn();
    await platform.pool.query('UPDATE session_tokens SET key_hash = NULL WHERE session_id = $1', [
      sessionOf(own).slice('session-'.length),
    ]);
    expect((await refresh(own)).status).toBe(401);
    expect(await recorded(own)).toEqual(['SessionOpened']);
  });
});
