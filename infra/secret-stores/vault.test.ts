import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { describeSecretStore } from '#infra/conformance/secret-store.ts';
import type { VaultConnection } from '#domain/secret-store/store.ts';
import { Targets } from '#infra/outgoing/targets.ts';
import { describeWith } from '../../scripts/testing/optional-service.ts';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { TokenCache } from './token-cache.ts';
import { openBao, startOpenBao, type OpenBao } from './testing/openbao.ts';
import { VaultStore } from './vault.ts';

const loopback = new Targets(['127.0.0.1/32']);
const soon = () => AbortSignal.timeout(5_000);

function connectionTo(address: string, changes: Partial<VaultConnection> = {}): VaultConnection {
  const auth = { type: 'token' } as const;
  return { type: 'vault', address, namespace: null, mount: 'kv', kvVersion: 2, auth, ...changes };
}

function storeOf(connection: VaultConnection, credential: string, tokens = new TokenCache()) {
  return new VaultStore({ connection, credential, targets: loopback, tokens, cacheKey: 'store' });
}

describeWith(openBao(), 'with OpenBao', () => {
  for (const kvVersion of [1, 2] as const) {
    describeSecretStore(`the key/value engine, version ${kvVersion}`, async () => {
      const bao = await startOpenBao();
      const options = { version: String(kvVersion) };
      await bao.call('POST', 'sys/mounts/team/kv', { type: 'kv', options });
      const connection = connectionTo(bao.address, { kvVersion, mount: 'team/kv' });
      return {
        open: () => storeOf(connection, bao.rootToken),
        put: async (path, key, value) => {
          const encoded = path.split('/').map(encodeURIComponent).join('/');
          const values = { [key]: value };
          const at = kvVersion === 2 ? `team/kv/data/${encoded}` : `team/kv/${encoded}`;
          await bao.call('POST', at, kvVersion === 2 ? { data: values } : values);
        },
        close: () => bao.close(),
      };
    });
  }

  describe('a store in Vault', () => {
    let bao: OpenBao;
    beforeAll(async () => {
      bao = await startOpenBao();
      await bao.call('POST', 'sys/mounts/kv', { type: 'kv', options: { version: '2' } });
      await bao.call('POST', 'kv/data/allowed', { data: { text: 'value', number: 7 } });
      await bao.call('POST', 'kv/data/other', { data: { text: 'other' } });
      const policy = 'path "kv/data/allowed" { capabilities = ["read"] }';
      await bao.call('POST', 'sys/policies/acl/reader', { policy });
      await bao.call('POST', 'sys/auth/approle', { type: 'approle' });
      const role = { token_policies: ['default', 'reader'], token_ttl: '1h' };
      await bao.call('POST', 'auth/approle/role/runs', role);
    });
    afterAll(() => bao.close());

    async function appRole() {
      const role = await bao.call('GET', 'auth/approle/role/runs/role-id');
      const secret = await bao.call('POST', 'auth/approle/role/runs/secret-id', {});
      const { role_id: roleId } = role['data'] as { role_id: string };
      const { secret_id: secretId } = secret['data'] as { secret_id: string };
      const auth = { type: 'app_role', mount: 'approle', roleId } as const;
      return { connection: connectionTo(bao.address, { auth }), secretId };
    }

    test('signs in with an AppRole and is limited by its policies', async () => {
      const { connection, secretId } = await appRole();
      const store = storeOf(connection, secretId);
      expect(await store.read({ path: 'allowed', key: 'text' }, soon())).toBe('value');
      expect(await store.read({ path: 'allowed', key: 'number' }, soon())).toBe('7');
      await expect(store.read({ path: 'other', key: 'text' }, soon())).rejects.toThrow(
        'the server refused access',
      );
      await store.check(soon());
    });

    test('signs in again if its token was revoked', async () => {
      const { connection, secretId } = await appRole();
      const tokens = new TokenCache();
      await storeOf(connection, secretId, tokens).check(soon());
      const token = tokens.get('store');
      await bao.call('POST', 'auth/token/revoke', { token });
      const store = storeOf(connection, secretId, tokens);
      expect(await store.read({ path: 'allowed', key: 'text' }, soon())).toBe('value');
      expect(tokens.get('store')).not.toBe(token);
    });

    test('refuses wrong credentials without showing them', async () => {
      const { connection } = await appRole();
      await expect(storeOf(connection, 'wrong').check(soon())).rejects.toThrow(
        /^the server refused the role ID or the secret ID$/,
      );
      await expect(storeOf(connectionTo(bao.address), 'wrong').check(soon())).rejects.toThrow(
        /^the server refused access$/,
      );
    });

    test('does not return a deleted secret version', async () => {
      await bao.call('POST', 'kv/data/gone', { data: { text: 'value' } });
      await bao.call('DELETE', 'kv/data/gone');
      const store = storeOf(connectionTo(bao.address), bao.rootToken);
      await expect(store.read({ path: 'gone', key: 'text' }, soon())).rejects.toThrow(
        'the path does not exist',
      );
    });
  });
});

describe('a Vault server', () => {
  let server: Server | undefined;
  afterEach(() => server?.closeAllConnections());
  afterEach(() => server?.close());

  async function answering(answer: (request: IncomingMessage, response: ServerResponse) => void) {
    server = createServer(answer).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    return `http://127.0.0.1:${port}`;
  }
  const place = { path: 'a', key: 'b' };

  test('receives the token and the namespace, and cannot redirect the request', async () => {
    const seen: unknown[] = [];
    const address = await answering(({ url, headers }, response) => {
      seen.push([url, headers['x-vault-token'], headers['x-vault-namespace']]);
      response.writeHead(307, { Location: '/elsewhere' }).end('canary');
    });
    const store = storeOf(connectionTo(`${address}/base/`, { namespace: 'team' }), 'token');
    await expect(store.read(place, soon())).rejects.toThrow('a redirect, which is not followed');
    expect(seen).toEqual([['/base/v1/kv/data/a', 'token', 'team']]);
  });

  test('that does not respond is abandoned after the time limit', async () => {
    const address = await answering(() => undefined);
    const reading = storeOf(connectionTo(address), 't').read(place, AbortSignal.timeout(50));
    await expect(reading).rejects.toThrow('the server did not answer in time');
  });

  test.each([
    [200, 'no JSON', 'the response has no values'],
    [200, '{"data":{"data":null}}', 'the response has no values'],
    [500, 'canary', 'the server returned status 500'],
    [503, '{"errors":["canary"]}', 'the server is sealed or in maintenance'],
  ])(
    'that returns the status %i and the body %j causes an error: %s',
    async (status, body, reason) => {
      const address = await answering((_, response) => response.writeHead(status).end(body));
      const reading = storeOf(connectionTo(address), 't').read(place, soon());
      await expect(reading).rejects.toThrow(reason);
      await expect(reading).rejects.not.toThrow('canary');
    },
  );

  test('that returns more than 4 MiB causes an error', async () => {
    const body = JSON.stringify({ data: { data: { b: 'x'.repeat(5 * 1024 * 1024) } } });
    const address = await answering((_, response) => response.end(body));
    const reading = storeOf(connectionTo(address), 't').read(place, soon());
    await expect(reading).rejects.toThrow('the response of the server exceeds 4 MiB');
  });

  test('is queried once for several keys at a path', async () => {
    let requests = 0;
    const address = await answering((_, response) => {
      requests += 1;
      response.end('{"data":{"data":{"a":"1","b":"2"}}}');
    });
    const store = storeOf(connectionTo(address), 't');
    const keys = ['a', 'b'].map((key) => store.read({ path: 'x', key }, soon()));
    expect(await Promise.all(keys)).toEqual(['1', '2']);
    expect(requests).toBe(1);
  });

  test('is not contacted at a private address unless the operator permits it', async () => {
    const address = await answering((_, response) => response.end('{}'));
    const options = { connection: connectionTo(address), credential: 't', cacheKey: 'x' };
    const tokens = new TokenCache();
    const store = new VaultStore({ ...options, targets: new Targets([]), tokens });
    await expect(store.read(place, soon())).rejects.toThrow('ORCH_ALLOW_PRIVATE_TARGETS');
  });
});
