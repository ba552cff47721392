import { untilTrue } from '#infra/testing/platform.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestAdapter, type TestAdapter } from './testing/test-adapter.ts';

let adapter: TestAdapter;
beforeAll(async () => {
  const options = { maxConnections: 20, maxUnauthenticated: 5, signInTimeoutMs: 1_000 };
  adapter = await startTestAdapter({ options });
});
afterAll(() => adapter.close());

const protocolError = (what: string) => `-ERR Protocol error: ${what}\r\n`;

describe('invalid input', () => {
  test.each([
    [
      'a length of 512 MB',
      '*2\r\n$4\r\nECHO\r\n$536870912\r\n',
      protocolError('unauthenticated bulk length'),
    ],
    [
      'an array of a million elements',
      '*1000000\r\n',
      protocolError('unauthenticated multibulk length'),
    ],
    ['malformed bytes', '*1\r\n\0\0\0\0', protocolError("expected '$', got '\0'")],
    ['an HTTP request', 'POST / HTTP/1.1\r\nHost: x\r\n\r\n', ''],
  ])(
    'closes the connection, with an error unless it is an HTTP request: %s',
    async (_, bytes, rest) => {
      const client = await adapter.openUnauthenticated();
      client.send(bytes);
      expect(await client.rest()).toBe(rest);
    },
  );

  test('has higher limits if it comes from an authenticated client', async () => {
    for (const [bytes, what] of [
      ['*2\r\n$4\r\nECHO\r\n$536870912\r\n', 'invalid bulk length'],
      ['*1000000\r\n', 'invalid multibulk length'],
    ] as const) {
      const client = await adapter.member();
      client.send(bytes);
      expect(await client.rest()).toBe(protocolError(what));
    }
  });

  test('closes the connection if an unauthenticated client never completes a command', async () => {
    const client = await adapter.openUnauthenticated();
    client.send('*2\r\n$4\r\nAU');
    expect(await client.rest()).toBe('');
  });
});

test('the adapter disconnects the oldest unauthenticated client when there are too many', async () => {
  const member = await adapter.member();
  const unauthenticated = [];
  for (let made = 0; made < 6; made += 1) unauthenticated.push(await adapter.openUnauthenticated());
  expect(await unauthenticated[0]!.rest()).toBe('');
  expect(await unauthenticated[5]!.call('PING')).toBe('PONG');
  expect(await member.call('LLEN', 'runtime:jobs')).toBe(0);
});

test('the adapter disconnects an unauthenticated client to accept a new one at the connection limit', async () => {
  const options = { maxConnections: 2, maxUnauthenticated: 2, signInTimeoutMs: 60_000 };
  const full = await startTestAdapter({ options });
  try {
    const member = await full.member();
    const openUnauthenticated = await full.openUnauthenticated();
    const next = await full.member();
    expect(await openUnauthenticated.rest()).toBe('');
    expect([await member.call('PING'), await next.call('PING')]).toEqual(['PONG', 'PONG']);
  } finally {
    await full.close();
  }
});

test('the adapter refuses connections over the limit with an error', async () => {
  const members = [];
  for (let made = 0; made < 20; made += 1) {
    members.push(await adapter.member().catch(() => undefined));
  }
  const late = await adapter.openUnauthenticated();
  expect(await late.rest()).toBe('-ERR max number of clients reached\r\n');
  for (const one of members) one?.close();
  await untilTrue('there is room again', async () => {
    const client = await adapter.openUnauthenticated();
    const reply = await client.call('PING').catch(() => undefined);
    client.close();
    return reply === 'PONG';
  });
});

test('the adapter serves other clients while one client sends requests without reading replies', async () => {
  const deaf = await adapter.member();
  deaf.socket.pause();
  deaf.send('COMMAND\r\n'.repeat(100_000));
  const other = await adapter.member();
  for (let asked = 0; asked < 100; asked += 1) expect(await other.call('PING')).toBe('PONG');
  deaf.close();
});
