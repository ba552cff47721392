import { once } from 'node:events';
import { createServer } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { freePorts } from '#infra/testing/free-ports.ts';
import { Bench, NAMESPACES, portOf } from './testing/bench.ts';
import { answerOf } from './testing/with-modules.ts';

const EACCES = 13;
const EINVAL = 22;
const ENOPROTOOPT = 92;
const EOPNOTSUPP = 95;
const ways = ['127.0.0.1', '::1', 'port 0', 'an unbound socket', 'MPTCP'];

describe.each([
  { kind: 'all layers', without: [] },
  { kind: 'no Landlock rules for ports', without: ['bind_tcp'] },
  { kind: 'no filter on listening', without: ['listen_filter'] },
  { kind: 'no namespaces', without: NAMESPACES },
])('with $kind', ({ without }) => {
  const isFiltered = !without.includes('listen_filter');
  let bench: Bench;
  beforeAll(async () => {
    bench = await Bench.open({ without });
  });
  afterAll(() => bench.close());

  async function listening(port: number, listenPorts: readonly number[]): Promise<string[]> {
    const args = [String(port), '0', ...ways];
    const { stdout, stderr } = await bench.run('listens.py', args, { listenPorts });
    expect(stderr).toBe('');
    return JSON.parse(stdout) as string[];
  }

  test('a run can listen on a permitted port', async () => {
    const [port = 0, other = 0] = await freePorts(2);
    expect(await listening(port, [other, port])).toEqual(
      expect.arrayContaining(['127.0.0.1', '::1']),
    );
  });

  test('a run cannot listen on other ports', async () => {
    const [port = 0, other = 0] = await freePorts(2);
    const through = await listening(port, [other]);
    expect(through).not.toContain('127.0.0.1');
    expect(through).not.toContain('::1');
  });

  test('a run can listen on a port that the kernel chooses, if permitted', async () => {
    const [port = 0] = await freePorts(1);
    expect(await listening(port, [0])).toEqual(['port 0', 'an unbound socket']);
  });

  test('programs in a run can listen in the usual ways', async () => {
    const { stdout, exit } = await bench.run('listens_within.py');
    expect(exit).toMatchObject({ exitCode: 0 });
    expect(JSON.parse(stdout)).toEqual({
      manager: [1, 2],
      'fork server': [2, 4],
      'own user': true,
      'listening twice': 0,
      'range of ports': isFiltered ? ENOPROTOOPT : 0,
      unbound: EINVAL,
      'a datagram socket': EOPNOTSUPP,
    });
  });
});

/** Returns a port from the kernel's range. */
async function portForClients(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const port = portOf(server);
  await once(server.close(), 'close');
  return port;
}

test.each([
  { kind: 'all layers', without: [] },
  { kind: 'no Landlock rules for ports', without: ['bind_tcp'] },
])('with $kind, a run cannot listen on a port other than the checked one', async ({ without }) => {
  const bench = await Bench.open({ without });
  try {
    const ports = [await portForClients(), ...(await freePorts(1))];
    const outcome = await bench.run('listens_elsewhere.py', ports.map(String), {
      listenPorts: ports,
    });
    expect(outcome).toMatchObject({ stdout: '[]\n', stderr: '', exit: { exitCode: 0 } });
  } finally {
    await bench.close();
  }
});

test.each([
  { protocol: 'TCP', number: 6 },
  { protocol: 'MPTCP', number: 262 },
])(
  'a $protocol socket that moves to another port before it listens is shut down',
  async ({ number }) => {
    expect(await answerOf('moves_before_listening.py', String(number), 'binds')).toEqual({
      error: EACCES,
      allowed: false,
      elsewhere: false,
    });
  },
);

test('a socket that releases its port before it listens gets no other port', async () => {
  expect(await answerOf('moves_before_listening.py', '6', 'leaves')).toEqual({
    error: 0,
    allowed: true,
    elsewhere: false,
  });
});
