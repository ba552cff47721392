import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Bench, NAMESPACES, NO_LIMITS, processesWith, until } from './testing/bench.ts';
import { answerOf } from './testing/with-modules.ts';

const MIB = 1024 * 1024;

describe.each([
  { kind: 'with all available layers', without: [] },
  { kind: 'without namespaces', without: NAMESPACES },
])('a launcher $kind', ({ without }) => {
  let bench: Bench;
  beforeAll(async () => {
    bench = await Bench.open({ without });
  });
  afterAll(async () => {
    await bench.close();
    expect(bench.log).toEqual([]);
  });

  test.each([{ args: [] }, { args: ['ignore'] }, { args: ['children'] }])(
    'terminates a run that exceeds the CPU time limit: $args',
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

  test('terminates a run when one process exceeds the memory limit', async () => {
    const limits = { ...NO_LIMITS, memoryBytes: 100 * MIB };
    const { exit } = await bench.run('memory.py', [], { limits });
    const detail = /^memory limit of 100 MiB exceeded: (?:the kernel|\d+(?:\.\d)? MiB used)/;
    expect(exit).toMatchObject({
      signal: 'SIGKILL',
      reason: 'memory_limit',
      detail: expect.stringMatching(detail),
    });
    expect(peakBytes(exit)).toBeGreaterThanOrEqual(100 * MIB);
    expect(peakBytes(exit)).toBeLessThan(200 * MIB);
  });

  test('terminates a run when several processes together exceed the memory limit', async () => {
    const limits = { ...NO_LIMITS, memoryBytes: 200 * MIB };
    const { exit } = await bench.run('memory.py', ['tree'], { limits });
    expect(exit).toMatchObject({ signal: 'SIGKILL', reason: 'memory_limit' });
  });

  test('counts memory that forked processes share only once', async () => {
    const limits = { ...NO_LIMITS, memoryBytes: 200 * MIB };
    const { exit, stdout } = await bench.run('shared_memory.py', [], { limits });
    expect(exit).toMatchObject({ exitCode: 0, reason: null });
    expect(stdout).toBe('shared\n');
  });

  test('reports an uncaught MemoryError as the memory limit', async () => {
    const { exit } = await bench.run('memory.py', ['error']);
    expect(exit).toMatchObject({ exitCode: 1, signal: null, reason: 'memory_limit' });
  });

  test('makes Python raise a MemoryError at the address space limit', async () => {
    const limits = { ...NO_LIMITS, addressSpaceBytes: 200 * MIB };
    const { exit } = await bench.run('memory.py', [], { limits });
    expect(exit).toMatchObject({ exitCode: 1, reason: 'memory_limit' });
  });

  test('limits the number of open files of a process', async () => {
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
  ])('terminates a run when $way files fill the disk in $where', async ({ way, where }) => {
    const dataFolder = join(bench.folder, 'data', `full-${way}-${without.length}`);
    const folder =
      where === '/var/tmp' && !bench.sandbox.layers.includes('mount_namespace') ? '.' : where;
    const limits = { ...NO_LIMITS, diskBytes: 8 * MIB };
    const running = await bench.start(bench.spec('disk.py', [way, folder], { limits, dataFolder }));
    const { exit } = await running.outcome();
    expect(exit).toMatchObject({ signal: 'SIGKILL', reason: null });
    const detail = /^disk limit of 8 MiB exceeded: (\d+(?:\.\d)?) MiB used .*at least 4096 bytes$/;
    expect(exit).toHaveProperty('detail', expect.stringMatching(detail));
  });

  test('counts writable folders toward the disk limit', async () => {
    const writable = join(bench.folder, `writable-${without.length}`);
    await mkdir(writable);
    const limits = { ...NO_LIMITS, diskBytes: 8 * MIB };
    const { exit } = await bench.run('disk.py', ['several', writable], {
      limits,
      readWrite: [writable],
    });
    expect(exit).toHaveProperty('detail', expect.stringContaining('disk limit of 8 MiB'));
  });

  test('limits the size of a single file', async () => {
    const limits = { ...NO_LIMITS, diskBytes: 8 * MIB };
    const { exit } = await bench.run('disk.py', ['one', '.'], { limits });
    // Either the kernel refuses the allocation, or the sampler ends the run first.
    expect(exit).toMatchObject({ reason: null });
    expect(exit).not.toMatchObject({ exitCode: 0 });
    const detail = expect.stringContaining('disk limit of 8 MiB');
    expect(exit).toHaveProperty('detail', detail);
  });

  test('terminates a run whose folders are nested too deeply to measure', async () => {
    const limits = { ...NO_LIMITS, diskBytes: 100 * MIB };
    const { exit } = await bench.run('disk.py', ['deep', '.'], { limits });
    expect(exit).toHaveProperty('detail', expect.stringContaining('deep'));
  });

  test('terminates a run whose data exceeds a lowered quota only when the run adds data', async () => {
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

  test('limits a fork bomb, and leaves none of its processes behind', async () => {
    const mark = `mark-bomb-${process.pid}-${without.length}`;
    const limits = { ...NO_LIMITS, processes: 30, wallClockSeconds: 1 };
    const running = await bench.start(bench.spec('forks.py', [mark], { limits, stopGraceMs: 0 }));
    await running.seen('forking');
    const { exit } = await running.outcome();
    expect(exit).toMatchObject({ exitCode: null, signal: 'SIGKILL' });
    expect(await processesWith(mark)).toEqual([]);
  });

  test('allows processes up to the limit, and then refuses more or terminates the run', async () => {
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

  test('samples the resource usage of the whole process tree', async () => {
    const running = await bench.start(bench.spec('memory.py', ['tree']));
    const all = 8 * 40 * MIB;
    await until(() => running.samples.some(({ memoryBytes }) => memoryBytes > all));
    running.run.kill();
    const { samples, exit } = await running.outcome();
    expect(samples.at(-1)).toMatchObject({ processes: 9, threads: 9 });
    expect(peakBytes(exit)).toBeGreaterThan(all);
  });
});

test('a run is terminated at the disk limit even if its files are in transit between processes', async () => {
  expect(await answerOf('sends_files.py')).toEqual({
    'nothing in transit': null,
    'in transit': expect.stringContaining(
      'the disk is almost full, and the run is passing open files',
    ),
    'in transit, and room left': null,
  });
});

function peakBytes(exit: object): number {
  return 'usage' in exit ? (exit.usage as { maxMemoryBytes: number }).maxMemoryBytes : 0;
}
