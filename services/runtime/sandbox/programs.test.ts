import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Bench, NAMESPACES } from './testing/bench.ts';

describe.each([
  { kind: 'with all available layers', without: [] },
  { kind: 'without namespaces', without: NAMESPACES },
])('a launcher $kind', ({ without }) => {
  let bench: Bench;
  beforeAll(async () => {
    bench = await Bench.open({ without });
  });
  afterAll(() => bench.close());

  test('lets programs use processes, threads, memory, files and sockets as usual', async () => {
    const { stdout, exit } = await bench.run('programs.py', [], { listenPorts: [0] });
    expect(JSON.parse(stdout)).toEqual({});
    expect(exit).toMatchObject({ exitCode: 0 });
  });
});
