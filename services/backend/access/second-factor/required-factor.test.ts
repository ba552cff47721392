import { once } from 'node:events';
import { TOTP } from 'otpauth';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { operations } from '../../operations.ts';
import { accountHolder, accountPassword, apiToken, groups } from '../../testing/people.ts';
import { startTestBackend, type TestBackend } from '../../testing/test-backend.ts';
import type { TestClient } from '../../testing/test-client.ts';

let platform: TestBackend;
beforeAll(async () => {
  platform = await startTestBackend({ secondFactorRoles: ['developer'] });
});
afterAll(() => platform.close());

const factor = '/api/v1/auth/second-factor';
const missing = [403, 'second_factor_missing'];

const developer = () => accountHolder(platform, { role: 'developer', groupIds: [groups.custom] });

async function enable(client: TestClient): Promise<void> {
  const { key } = (await client.post(`${factor}/key`, {})).json;
  const code = new TOTP({ secret: key }).generate();
  const answer = await client.post(factor, { current_password: accountPassword, key, code });
  expect(answer.status, answer.text).toBe(201);
}

async function codeOf(client: TestClient, path = '/api/v1/scripts') {
  const { status, json } = await client.get(path);
  return [status, json.code];
}

describe('a session whose role requires a second factor', () => {
  test('gets access once the second factor is enabled', async () => {
    const { client } = await developer();
    expect(await codeOf(client)).toEqual(missing);
    expect((await client.get('/api/v1/auth/me')).json.second_factor_missing).toBe(true);
    await enable(client);
    expect((await client.get('/api/v1/scripts')).status).toBe(200);
    expect((await client.get('/api/v1/auth/me')).json.second_factor_missing).toBe(false);
  });

  test('can only enable the second factor, change the password and sign out', () => {
    const allowed = operations.filter((one) => one.allowsFactorSetUp === true);
    expect(allowed.map(({ operationId }) => operationId).toSorted()).toEqual([
      'addPasskey',
      'changePassword',
      'createFactorKey',
      'createPasskeyOptions',
      'enableSecondFactor',
      'getSecondFactor',
      'logout',
      'me',
    ]);
  });

  test('cannot create an API token', async () => {
    const { client } = await developer();
    const { status, json } = await client.post('/api/v1/auth/tokens', { name: 'x', scopes: ['*'] });
    expect([status, json.code]).toEqual(missing);
  });

  test('cannot disable the second factor', async () => {
    const { client } = await developer();
    await enable(client);
    const body = { current_password: accountPassword, code: '000000' };
    const { status, json } = await client.post(`${factor}/disable`, body);
    expect([status, json.detail]).toEqual([403, expect.stringMatching(/^Your role requires/)]);
  });

  test('loses access when an administrator resets the second factor', async () => {
    const { client, id } = await developer();
    await enable(client);
    await platform.admin.delete(`/api/v1/users/${id}/second-factor`);
    expect(await codeOf(client)).toEqual(missing);
  });
});

describe('a user whose new role requires a second factor', () => {
  test('keeps API tokens, but loses sessions and open sockets until the second factor is enabled', async () => {
    const { client, id } = await accountHolder(platform);
    const { client: program } = await apiToken(client, ['*']);
    expect((await client.get('/api/v1/auth/me')).json.second_factor_missing).toBe(false);
    const { ticket } = (await client.post('/api/v1/auth/ws-ticket', {})).json;
    const address = `${platform.origin.replace('http', 'ws')}/ws?token=${ticket}`;
    const socket = new WebSocket(address);
    await once(socket, 'open');
    const closed = once(socket, 'close');
    await platform.admin.patch(`/api/v1/users/${id}`, { role: 'developer' });
    expect(Number((await closed)[0])).toBe(4403);
    expect(await codeOf(client)).toEqual(missing);
    expect((await program.get('/api/v1/scripts')).status).toBe(200);
  });
});

test('a socket is refused while a required second factor is missing', async () => {
  const { client } = await accountHolder(platform);
  const { ticket } = (await client.post('/api/v1/auth/ws-ticket', {})).json;
  const me = await client.get('/api/v1/auth/me');
  await platform.admin.patch(`/api/v1/users/${me.json.id}`, { role: 'developer' });
  const socket = new WebSocket(`${platform.origin.replace('http', 'ws')}/ws?token=${ticket}`);
  const [code, reason] = await once(socket, 'close');
  expect([code, String(reason)]).toEqual([4403, 'the role requires a second factor']);
});
