import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Clock } from '#domain/ports/clock.ts';
import { groups, someone } from '../testing/people.ts';
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
  // The clock goes on by days: a token of before is out of date.
  const admin = await platform.anonymous.signIn(administrator);
  const wanted = { role: 'viewer', groupIds: [groups.custom] } as const;
  const client = await someone({ ...platform, admin }, wanted);
  return (await client.get('/api/v1/auth/me')).json as { email: string };
}

describe('given a refresh token', () => {
  const refresh = (cookie: string) =>
    platform.anonymous.with({ Cookie: cookie }).post('/api/v1/auth/refresh');
  const cookieOf = (headers: Headers) => (headers.get('set-cookie') ?? '').split(';')[0] ?? '';
  const signedIn = async () => {
    const { email } = await person();
    return cookieOf(
      (await platform.anonymous.post('/api/v1/auth/login', { email, password })).headers,
    );
  };

  test('when two tabs present it at once, then both get the same successor', async () => {
    const first = await signedIn();
    const [one, other] = await Promise.all([refresh(first), refresh(first)]);
    expect([one.status, other.status]).toEqual([200, 200]);
    expect(cookieOf(one.headers)).toBe(cookieOf(other.headers));
    nowMs += 9_999;
    expect(cookieOf((await refresh(first)).headers)).toBe(cookieOf(one.headers));
    expect((await refresh(cookieOf(one.headers))).status).toBe(200);
  });

  test('when it comes again after ten seconds, then the session ends for everybody', async () => {
    const first = await signedIn();
    const traded = await refresh(first);
    nowMs += 10_000;
    expect((await refresh(first)).status).toBe(401);
    expect((await refresh(cookieOf(traded.headers))).status).toBe(401);
    const client = new TestClient(platform.origin, traded.json.access_token);
    expect((await client.get('/api/v1/auth/me')).status).toBe(401);
  });

  test('when it is traded, then nothing is recorded; its reuse is', async () => {
    const first = await signedIn();
    const recorded = async () => {
      const { rows } = await platform.pool.query<{ type: string }>(
        `SELECT type FROM events WHERE stream_id = $1 ORDER BY version`,
        [`session-${first.split('=')[1]?.slice(0, 36)}`],
      );
      return rows.map(({ type }) => type);
    };
    await refresh(cookieOf((await refresh(first)).headers));
    expect(await recorded()).toEqual(['SessionOpened']);
    await refresh(first);
    expect(await recorded()).toEqual(['SessionOpened', 'SessionClosed']);
  });

  test('when nobody has traded it for fourteen days, then it is good no longer', async () => {
    const first = await signedIn();
    nowMs += 14 * 24 * 60 * 60 * 1000;
    expect((await refresh(first)).status).toBe(401);
  });

  test('when it is presented as an access token, then it is none', async () => {
    const token = (await signedIn()).split('=')[1];
    const client = new TestClient(platform.origin, token);
    expect((await client.get('/api/v1/auth/me')).status).toBe(401);
  });
});
