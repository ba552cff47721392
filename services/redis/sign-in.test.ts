import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { RawClient, Value } from './testing/raw-client.ts';
import { password, startTestAdapter, type TestAdapter } from './testing/test-adapter.ts';

let adapter: TestAdapter;
beforeAll(async () => {
  adapter = await startTestAdapter();
});
afterAll(() => adapter.close());

const noAuth = '-NOAUTH Authentication required.';

async function greeting(client: RawClient, ...words: readonly string[]): Promise<Value> {
  const reply = await client.call('HELLO', ...words);
  return reply instanceof Map ? (reply.get('proto') ?? null) : reply;
}

describe('an unauthenticated client', () => {
  test('gets NOAUTH for every command except PING, HELLO and QUIT', async () => {
    const client = await adapter.openUnauthenticated();
    expect(await client.call('PING')).toBe('PONG');
    expect(await greeting(client, '3')).toBe(3);
    for (const words of [
      ['LLEN', 'runtime:jobs'],
      ['INFO'],
      ['COMMAND'],
      ['NONSENSE'],
      ['SUBSCRIBE', 'a'],
    ]) {
      expect(await client.call(...words), words.join(' ')).toBe(noAuth);
    }
    expect(await client.call('QUIT')).toBe('OK');
    expect(await client.rest()).toBe('');
  });

  test('can sign in with the password or a token, using AUTH or HELLO', async () => {
    const token = await adapter.token(['runs:read']);
    for (const words of [[password], ['default', password], [token], ['ada@example.com', token]]) {
      const client = await adapter.openUnauthenticated();
      expect(await client.call('AUTH', ...words)).toBe('OK');
      expect(await client.call('LLEN', 'runtime:jobs')).toBe(0);
    }
    const client = await adapter.openUnauthenticated();
    const hello = ['3', 'AUTH', 'default', password, 'SETNAME', 'worker-1'];
    expect(await greeting(client, ...hello)).toBe(3);
    expect(await client.call('CLIENT', 'GETNAME')).toBe('worker-1');
    expect(await client.call('LPOP', 'none')).toBe(null);
  });

  test('is disconnected after several wrong passwords, and each attempt is recorded in the audit trail', async () => {
    const client = await adapter.openUnauthenticated();
    const wrong = '-WRONGPASS invalid username-password pair or user is disabled.';
    for (let attempt = 0; attempt < 4; attempt += 1) {
      expect(await client.call('AUTH', 'a guess')).toBe(wrong);
    }
    expect(await greeting(client, '3', 'AUTH', 'default', `orch_${'a'.repeat(43)}`)).toBe(wrong);
    expect(await client.rest()).toBe('');
  });

  test('gets an error that explains why HELLO is invalid', async () => {
    const client = await adapter.openUnauthenticated();
    expect(await client.call('HELLO', 'x')).toMatch(/^-ERR Protocol version is not an integer/);
    expect(await client.call('HELLO', '4')).toBe('-NOPROTO unsupported protocol version');
    expect(await client.call('HELLO', '3', 'AUTH', 'x')).toMatch(/^-ERR Syntax error in HELLO/);
    expect(await client.call('HELLO', '3', 'SETNAME', 'a b')).toMatch(/^-ERR Client names/);
    expect(await client.call('AUTH', 'a', 'b', 'c')).toBe('-ERR syntax error');
  });
});

describe('an authenticated client', () => {
  test('is unauthenticated again after RESET', async () => {
    const client = await adapter.member();
    expect(await client.call('RESET')).toBe('RESET');
    expect(await client.call('INFO')).toBe(noAuth);
  });

  test('is disconnected at its next command after its token is revoked', async () => {
    const token = await adapter.token(['*']);
    const client = await adapter.openUnauthenticated();
    await client.call('AUTH', token);
    expect(await client.call('LLEN', 'runtime:jobs')).toBe(0);
    await adapter.platform.pool.query(`UPDATE api_tokens SET revoked_at = now()`);
    expect(await client.call('LLEN', 'runtime:jobs')).toMatch(/^-NOAUTH The token has expired/);
    expect(await client.rest()).toBe('');
  });

  test('cannot use commands beyond its scope or role, and the refusal is recorded', async () => {
    const job = JSON.stringify({ script_id: 'x' });
    for (const [scopes, role] of [
      [['runs:read'], 'operator'],
      [['*'], 'viewer'],
    ] as const) {
      const client = await adapter.openUnauthenticated();
      await client.call('AUTH', await adapter.token(scopes, { role }));
      expect(await client.call('LPUSH', 'runtime:jobs', job)).toMatch(
        /^-NOPERM LPUSH is not allowed/,
      );
      expect(await client.call('BRPOP', 'runtime:jobs', '0')).toMatch(/^-NOPERM BRPOP/);
      expect(await client.call('LLEN', 'runtime:jobs')).toBe(0);
    }
  });

  test('gets the replies to pipelined commands in order', async () => {
    const client = await adapter.member();
    client.send('PING a\r\nPING b\r\nLLEN runtime:jobs\r\n*1\r\n$4\r\nPING\r\nCLIENT ID\r\n');
    const replies: Value[] = [];
    for (let left = 5; left > 0; left -= 1) replies.push(await client.reply());
    expect(replies).toEqual(['a', 'b', 0, 'PONG', expect.any(Number)]);
  });

  test('gets an error that names an unknown command', async () => {
    const client = await adapter.member();
    expect(await client.call('GET', 'x', 'y')).toBe(
      "-ERR unknown command 'GET', with args beginning with: 'x' 'y' ",
    );
    expect(await client.call('LLEN')).toBe("-ERR wrong number of arguments for 'llen' command");
    expect(await client.call('SELECT', '0')).toBe('OK');
    expect(await client.call('SELECT', '1')).toBe('-ERR DB index is out of range');
    expect(await client.call('COMMAND', 'COUNT')).toBeGreaterThan(25);
    expect(await client.call('INFO', 'server')).toMatch(/^# Server\r\nredis_version:7/);
  });
});
