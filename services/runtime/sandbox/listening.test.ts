import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { freePorts } from '#infra/testing/free-ports.ts';
import { Bench, NAMESPACES } from './testing/bench.ts';

const EINVAL = 22;
const EOPNOTSUPP = 95;
const ways = ['127.0.0.1', '::1', 'port 0', 'a socket that is not bound', 'MPTCP'];

describe.each([
  { kind: 'all layers', without: [] },
  { kind: 'no rules of Landlock for ports', without: ['bind_tcp'] },
  { kind: 'no filter on listening', without: ['listen_filter'] },
  { kind: 'no namespaces', without: NAMESPACES },
])('with $kind', ({ without }) => {
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

  test('a run listens on a port that its settings allow', async () => {
    const [port = 0, other = 0] = await freePorts(2);
    expect(await listening(port, [other, port])).toEqual(
      expect.arrayContaining(['127.0.0.1', '::1']),
    );
  });

  test('a run does not listen on a port beside those that its settings allow', async () => {
    const [port = 0, other = 0] = await freePorts(2);
    const through = await listening(port, [other]);
    expect(through).not.toContain('127.0.0.1');
    expect(through).not.toContain('::1');
  });

  test('a run listens on a port that the kernel chooses where its settings allow that', async () => {
    const [port = 0] = await freePorts(1);
    expect(await listening(port, [0])).toEqual(['port 0', 'a socket that is not bound']);
  });

  test('within a run programs listen as they do elsewhere', async () => {
    const { stdout, exit } = await bench.run('listens_within.py');
    expect(exit).toMatchObject({ exitCode: 0 });
    expect(JSON.parse(stdout)).toEqual({
      manager: [1, 2],
      'fork server': [2, 4],
      'own user': true,
      'listening twice': 0,
      unbound: EINVAL,
      'a datagram socket': EOPNOTSUPP,
    });
  });
});
