import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { Bench, until } from './testing/bench.ts';

const platform = fileURLToPath(new URL('../python', import.meta.url));

/** Simulates a pool.
 *  @param steps `taken` or `shrink`, each with a time in seconds
 *  @returns the number of spares that the pool should have after each step, and whether they are due immediately */
async function wantedAfter(steps: readonly (readonly ['taken' | 'shrink', number])[]) {
  const program = `
import json, sys
from pool.pool_size import PoolSize
pool_size, wanted = PoolSize(1, 3), []
for step, now in json.loads(sys.argv[1]):
    getattr(pool_size, step)(now)
    wanted.append([pool_size.wanted, pool_size.is_due(now)])
print(json.dumps(wanted))`;
  const python = process.env['ORCH_PYTHON'] ?? 'python3';
  const { stdout } = await promisify(execFile)(python, ['-c', program, JSON.stringify(steps)], {
    env: { ...process.env, PYTHONPATH: platform, PYTHONDONTWRITEBYTECODE: '1' },
  });
  return JSON.parse(stdout) as unknown;
}

test('one spare process starts soon after a single run, and several start immediately during a burst of runs', async () => {
  const seldom = await wantedAfter([
    ['taken', 10],
    ['taken', 10.2],
    ['taken', 10.4],
    ['shrink', 10.5],
  ]);
  const burst = await wantedAfter([
    ['taken', 10],
    ['taken', 10.05],
    ['taken', 10.1],
    ['taken', 10.15],
    ['shrink', 12.1],
    ['shrink', 12.2],
  ]);
  const later = [1, false];
  expect(seldom).toEqual([later, later, later, [1, true]]);
  const atOnce = [2, 3, 3, 3, 1].map((wanted) => [wanted, true]);
  expect(burst).toEqual([later, ...atOnce]);
});

test('spare processes serve a burst of runs, and surplus spare processes then exit', async () => {
  const bench = await Bench.open();
  const { launcherPid } = bench.sandbox;
  const spares = async () => {
    const children = await readFile(`/proc/${launcherPid}/task/${launcherPid}/children`, 'utf8');
    return children.trim().split(' ').length;
  };
  try {
    await until(async () => (await spares()) === 2);
    const outcomes = await Promise.all(Array.from({ length: 12 }, () => bench.run('hello.py')));
    expect(outcomes.map(({ exit }) => exit)).toEqual(
      outcomes.map(() => expect.objectContaining({ exitCode: 0, signal: null })),
    );
    await until(async () => (await spares()) === 2);
    expect((await bench.run('hello.py')).exit).toMatchObject({ exitCode: 0 });
    expect(bench.log).toEqual([]);
  } finally {
    await bench.close();
  }
});
