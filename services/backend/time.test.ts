/** Tests the effects of passing time. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sessionHeaders } from './testing/browser-session.ts';
import { administrator, startTestBackend, type TestBackend } from './testing/test-backend.ts';

let platform: TestBackend;
let aheadMs = 0;
const clock = { now: () => new Date(Date.now() + aheadMs) };
beforeAll(async () => {
  platform = await startTestBackend({ clock });
});
afterAll(() => platform.close());

const minuteMs = 60_000;
const login = '/api/v1/auth/login';

describe('time limits', () => {
  test('expire an access token after 15 minutes', async () => {
    const client = await platform.anonymous.signIn(administrator);
    expect((await client.get('/api/v1/auth/me')).status).toBe(200);
    aheadMs += 16 * minuteMs;
    expect((await client.get('/api/v1/auth/me')).status).toBe(401);
  });

  test('permit another sign-in attempt after 5 minutes', async () => {
    const body = { email: 'unknown@example.com', password: 'wrong' };
    for (let index = 0; index < 5; index += 1) await platform.anonymous.post(login, body);
    expect((await platform.anonymous.post(login, body)).status).toBe(429);
    aheadMs += 6 * minuteMs;
    expect((await platform.anonymous.post(login, body)).status).toBe(401);
  });

  test('expire a refresh token after 14 days', async () => {
    const answer = await platform.anonymous.post(login, administrator);
    const browser = platform.anonymous.with(sessionHeaders(answer));
    aheadMs += 15 * 24 * 60 * minuteMs;
    expect((await browser.post('/api/v1/auth/refresh')).status).toBe(401);
  });
});
