import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Bench, NAMESPACES, NO_LIMITS, processesWith, until } from './testing/bench.ts';
import { answerOf } from './testing/with-modules.ts';

const MIB = 1024 * 1024;

describe.each([
  { kind: 'with what the machine has', without: [] },
  { kind: 'without namespaces', without: NAMESPACES },
])('given a launcher $kind', ({ without }) => {
  let bench: Bench;
  beforeAll(async () => {
    bench = await Bench.open({ without });
  });
  afterAll(async () => {
    await bench.close();
    expect(bench.log).toEqual([]);
  });

  test.each([{ args: [] }, { args: ['ignore'] }, { args: ['children'] }])(
    'CPU time over the limit ends the run: $args',
    async ({ args }) => {
      const limits = { ...NO_LIMITS, cpuSeconds: 1 };
      const { exit } = await bench.run('burn.py', args, { limits });
      expect(exit).toMatchObject({ exitCode: null, reason: 'cpu_limit' });
      expect(exit).toHaveProperty(
        'detail',
        expect.stringMatching(/^CPU time limit of 1 s .* used$/),
      );
      const used = 'usage' in exit ? exit.usage.cpuSeconds : 0;
      expect(used).toBeGreaterThan(0.7);
      expect(used).toBeLessThan(4);
    },
  );

  test('memory of one process over the limit ends the run', async () => {
    const limits = { ...NO_LIMITS, memoryBytes: 100 * MIB };
    const { exit } = await bench.run('memory.py', [], { limits });
    expect(exit).toMatchObject({ signal: 'SIGKILL', reason: 'memory_limit' });
    expect(peakBytes(exit)).toBeGreaterThanOrEqual(100 * MIB);
    expect(peakBytes(exit)).toBeLessThan(200 * MIB);
  });

  test('memory of many processes together over the limit ends the run', async () => {
    const limits = { ...NO_LIMITS, memoryBytes: 200 * MIB };
    const { exit } = await bench.run('memory.py', ['tree'], { limits });
    expect(exit).toMatchObject({ signal: 'SIGKILL', reason: 'memory_limit' });
  });

  test('memory that forked processes share counts once', async () => {
    const limits = { ...NO_LIMITS, memoryBytes: 200 * MIB };
    const { exit, stdout } = await bench.run('shared_memory.py', [], { limits });
    expect(exit).toMatchObject({ exitCode: 0, reason: null });
    expect(stdout).toBe('shared\n');
  });

  test('an uncaught MemoryError counts as the memory limit', async () => {
    const { exit } = await bench.run('memory.py', ['error']);
    expect(exit).toMatchObject({ exitCode: 1, signal: null, reason: 'memory_limit' });
  });

  test('the address space limit makes Python raise that error', async () => {
    const limits = { ...NO_LIMITS, addressSpaceBytes: 200 * MIB };
    const { exit } = await bench.run('memory.py', [], { limits });
    expect(exit).toMatchObject({ exitCode: 1, reason: 'memory_limit' });
  });

  test('open files are limited', async () => {
    const limits = { ...NO_LIMITS, openFiles: 20 };
    const { stdout } = await bench.run('open_files.py', [], { limits });
    expect(stdout).toBe('refused after 17\n');
    const { exit } = await bench.run('open_files.py', ['crash'], { limits });
    expect(exit).toMatchObject({
      exitCode: 1,
      reason: null,
      detail: 'limit of 20 open files reached',
    });
  });

  test.each([
    { way: 'several', where: '.' },
    { way: 'several', where: 'data' },
    { way: 'several', where: '/var/tmp' },
    { way: 'many', where: '.' },
    { way: 'empty', where: '.' },
    { way: 'empty', where: 'data' },
    { way: 'removed', where: '.' },
    { way: 'mapped', where: '.' },
    { way: 'linked', where: '.' },
  ])('$way files that fill the disk in $where end the run', async ({ way, where }) => {
    const dataFolder = join(bench.folder, 'data', `full-${way}-${without.length}`);
    const folder = where === '/var/tmp' && without.length > 0 ? '.' : where;
    const limits = { ...NO_LIMITS, diskBytes: 8 * MIB };
    const running = await bench.start(bench.spec('disk.py', [way, folder], { limits, dataFolder }));
    const { exit } = await running.outcome();
    expect(exit).toMatchObject({ signal: 'SIGKILL', reason: null });
    const detail = /^disk limit of 8388608 bytes exceeded: (\d+) bytes used .*at least 4096 bytes$/;
    expect(exit).toHaveProperty('detail', expect.stringMatching(detail));
  });

  test('folders that a run may write to count for the disk', async () => {
    const writable = join(bench.folder, `writable-${without.length}`);
    await mkdir(writable);
    const limits = { ...NO_LIMITS, diskBytes: 8 * MIB };
    const { exit } = await bench.run('disk.py', ['several', writable], {
      limits,
      readWrite: [writable],
    });
    expect(exit).toHaveProperty('detail', expect.stringContaining('disk limit of 8388608 bytes'));
  });

  test('one file cannot grow beyond the limit', async () => {
    const limits = { ...NO_LIMITS, diskBytes: 8 * MIB };
    const { exit } = await bench.run('disk.py', ['one', '.'], { limits });
    // Refused by the kernel; where the sampler looks first, it ends the run.
    expect(exit).toMatchObject({ reason: null });
    expect(exit).not.toMatchObject({ exitCode: 0 });
    const detail = expect.stringContaining('disk limit of 8388608 bytes');
    expect(exit).toHaveProperty('detail', detail);
  });

  test('folders that are nested too deep to be measured end the run', async () => {
    const limits = { ...NO_LIMITS, diskBytes: 100 * MIB };
    const { exit } = await bench.run('disk.py', ['deep', '.'], { limits });
    expect(exit).toHaveProperty('detail', expect.stringContaining('deep'));
  });

  test('what was kept before a quota was lowered does not end a run that adds nothing', async () => {
    const dataFolder = join(bench.folder, 'data', `lowered-${without.length}`);
    const first = await bench.run('disk.py', ['within', 'data'], {
      dataFolder,
      limits: { ...NO_LIMITS, diskBytes: MIB },
    });
    expect(first).toMatchObject({ stdout: 'done 262144\n', exit: { exitCode: 0 } });
    const lowered = { ...NO_LIMITS, diskBytes: 4096 };
    const files = bench.spec('hello.py').files;
    const idle = await bench.run('hello.py', [], { files, dataFolder, limits: lowered });
    expect(idle.exit).toMatchObject({ exitCode: 0, reason: null });
  });

  test('a fork bomb is bounded and nothing of it is left', async () => {
    const mark = `mark-bomb-${process.pid}-${without.length}`;
    const limits = { ...NO_LIMITS, processes: 30, wallClockSeconds: 1 };
    const running = await bench.start(bench.spec('forks.py', [mark], { limits, stopGraceMs: 0 }));
    await running.seen('forking');
    const { exit } = await running.outcome();
    expect(exit).toMatchObject({ exitCode: null, signal: 'SIGKILL' });
    expect(await processesWith(mark)).toEqual([]);
  });

  test('processes up to the limit are allowed, and more are refused or end the run', async () => {
    const limits = { ...NO_LIMITS, processes: 30 };
    const few = await bench.run('fork_count.py', ['20'], { limits });
    expect(few).toMatchObject({ stdout: 'children 20\n', exit: { exitCode: 0 } });
    const { exit, stdout } = await bench.run('fork_count.py', ['10000'], { limits });
    const refused = /^refused\nchildren (\d+)\n$/.exec(stdout);
    if (refused === null) {
      expect(exit).toHaveProperty('detail', expect.stringContaining('process limit of 30'));
    } else {
      expect(Number(refused[1])).toBeLessThan(340);
    }
  });

  test('samples tell what the whole tree uses', async () => {
    const running = await bench.start(bench.spec('memory.py', ['tree']));
    const all = 8 * 40 * MIB;
    await until(() => running.samples.some(({ memoryBytes }) => memoryBytes > all));
    running.run.kill();
    const { samples, exit } = await running.outcome();
    expect(samples.at(-1)).toMatchObject({ processes: 9, threads: 9 });
    expect(peakBytes(exit)).toBeGreaterThan(all);
  });
});

test('a run whose files are in transit between its processes ends once the disk is full', async () => {
  expect(await answerOf('sends_files.py')).toEqual({
    'nothing in transit': null,
    'in transit': expect.stringContaining('the disk is almost full, and the run has open files'),
    'in transit, and room left': null,
  });
});

function peakBytes(exit: object): number {
  return 'usage' in exit ? (exit.usage as { maxMemoryBytes: number }).maxMemoryBytes : 0;
}
