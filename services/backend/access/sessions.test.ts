import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  accountHolder,
  accountPassword as password,
  apiToken,
  nowhere,
} from '../testing/people.ts';
import { administrator, startTestBackend, type TestBackend } from '../testing/test-backend.ts';

let platform: TestBackend;
beforeAll(async () => {
  platform = await startTestBackend();
});
afterAll(() => platform.close());

describe('a signed-in user', () => {
  const person = () => accountHolder(platform);

  test('can sign in again and keeps API tokens after ending all sessions', async () => {
    const { id, email, client } = await person();
    const token = await apiToken(client, ['runs:read']);
    const address = `/api/v1/users/${id}/sessions`;
    expect((await client.delete(address)).status).toBe(403);
    expect((await platform.admin.delete(`/api/v1/users/${nowhere}/sessions`)).status).toBe(404);
    expect((await platform.admin.delete(address)).status).toBe(204);
    expect((await client.get('/api/v1/auth/me')).status).toBe(401);
    expect((await token.client.get('/api/v1/auth/me')).status).toBe(200);
    const { rows } = await platform.pool.query(
      `SELECT data ->> 'reason' AS reason, metadata #>> '{actor,email}' AS by FROM events
       WHERE type = 'SessionClosed' ORDER BY global_position DESC LIMIT 1`,
    );
    expect(rows).toEqual([{ reason: 'revoked', by: administrator.email }]);
    const again = await platform.anonymous.signIn({ email, password });
    expect((await again.get('/api/v1/auth/me')).status).toBe(200);
  });

  test('adds no audit entry if there is no session to end', async () => {
    const { id } = await person();
    const address = `/api/v1/users/${id}/sessions`;
    expect((await platform.admin.delete(address)).headers.get('orch-position')).toMatch(/^\d+$/);
    const again = await platform.admin.delete(address);
    expect([again.status, again.headers.get('orch-position')]).toEqual([204, null]);
  });

  test('can end all other sessions and keep the current one', async () => {
    const { email, client } = await person();
    const others = [
      await platform.anonymous.signIn({ email, password }),
      await platform.anonymous.signIn({ email, password }),
    ];
    expect((await client.delete('/api/v1/auth/sessions')).status).toBe(204);
    for (const other of others) expect((await other.get('/api/v1/auth/me')).status).toBe(401);
    expect((await client.get('/api/v1/auth/sessions')).json.items).toMatchObject([
      { current: true },
    ]);
  });

  test('can end another session', async () => {
    const { email, client } = await person();
    const other = await platform.anonymous.signIn({ email, password });
    const { items } = (await client.get('/api/v1/auth/sessions')).json;
    expect(items).toMatchObject([{ current: false, ip: '127.0.0.1' }, { current: true }]);
    const address = `/api/v1/auth/sessions/${items[0].id}`;
    expect((await (await person()).client.delete(address)).status).toBe(404);
    expect((await client.delete(address)).status).toBe(204);
    expect((await other.get('/api/v1/auth/me')).status).toBe(401);
    expect((await client.get('/api/v1/auth/sessions')).json.items).toHaveLength(1);
  });
});
