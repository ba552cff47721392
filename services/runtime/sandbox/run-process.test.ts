import { existsSync } from 'node:fs';
import { chmod, mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { SandboxError } from './sandbox.ts';
import { Bench, gone, NAMESPACES, NO_LIMITS, processesWith, until } from './testing/bench.ts';

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

  test('runs a script in its workspace with exactly the given environment', async () => {
    const spec = bench.spec('hello.py', [], { env: { LC_ALL: 'C', GREETING: 'hé\nllo' } });
    const { exit, stdout, stderr, run } = await (await bench.start(spec)).outcome();
    expect(exit).toMatchObject({ kind: 'exited', exitCode: 0, signal: null, reason: null });
    const [first, second, report] = Buffer.from(stdout, 'latin1').toString().split('\n');
    expect([first, second, stderr]).toEqual(['out 1', 'out 2', 'err 1\nerr 2\n']);
    expect(JSON.parse(report ?? '')).toMatchObject({
      cwd: run.workspace,
      environment: { LC_ALL: 'C', GREETING: expect.any(String), HOME: run.workspace },
      files: ['data', 'main.py'],
      stdin: '',
    });
  });

  test("reports the script's exit code", async () => {
    const { exit } = await bench.run('hello.py', ['41']);
    expect(exit).toMatchObject({ exitCode: 41, signal: null, reason: null });
  });

  test('measures the duration until the last process exits, not until the output is stored', async () => {
    const spec = bench.spec('hello.py');
    const stored = Promise.withResolvers<void>();
    const run = await bench.sandbox.prepare(spec, {
      output: () => stored.promise,
      sample: () => undefined,
    });
    const startedAt = performance.now();
    run.go();
    // The supervisor removes the folder after the last process has ended.
    await until(() => !existsSync(join(bench.folder, 'runs', spec.runId)));
    const elapsedMs = performance.now() - startedAt;
    stored.resolve();
    const exit = await run.finished;
    await run.closed;
    expect(exit).toMatchObject({ kind: 'exited', exitCode: 0 });
    const durationMs = exit.kind === 'exited' ? exit.usage.durationMs : 0;
    expect(durationMs).toBeGreaterThan(0);
    expect(durationMs).toBeLessThanOrEqual(Math.ceil(elapsedMs));
  });

  test('reports the signal that ended a script', async () => {
    const { exit } = await bench.run('signals.py', ['SIGSEGV']);
    expect(exit).toMatchObject({ exitCode: null, signal: 'SIGSEGV', reason: null });
  });

  test('executes no script before the start signal, and leaves no trace of an abandoned run', async () => {
    const spec = bench.spec('hello.py');
    const output: string[] = [];
    const run = await bench.sandbox.prepare(spec, {
      output: (_stream, chunk) => void output.push(chunk.toString()),
      sample: () => undefined,
    });
    expect(await readFile(`/proc/${run.pid}/cmdline`, 'latin1')).toContain('launcher.py');
    run.kill();
    expect(await run.finished).toMatchObject({ exitCode: null, signal: 'SIGKILL' });
    await run.closed;
    expect(output).toEqual([]);
    expect(existsSync(join(bench.folder, 'runs', spec.runId))).toBe(false);
  });

  test('refuses to start a second process for the same run', async () => {
    const running = await bench.start(bench.spec('stubborn.py', ['polite']));
    const again = { ...bench.spec('hello.py'), runId: running.runId };
    await expect(bench.start(again)).rejects.toThrow('alive');
    running.run.kill();
    await running.outcome();
  });

  test('reports a missing interpreter as a preparation error', async () => {
    const spec = bench.spec('hello.py', [], { argv: ['/nowhere/python3', 'main.py'] });
    await expect(bench.start(spec)).rejects.toThrow(SandboxError);
    await expect(bench.start(bench.spec('missing.py'))).rejects.toMatchObject({
      stage: 'workspace',
    });
  });

  test('reports a missing program by its name', async () => {
    const running = bench.start({ ...bench.spec('hello.py'), argv: ['/nowhere/bin/python'] });
    await expect(running).rejects.toMatchObject({
      stage: 'exec',
      message: expect.stringMatching(
        /^\/nowhere\/bin\/python is missing or cannot be executed\. A/,
      ),
    });
  });

  test('reports a program that the kernel refuses to execute as a sandbox failure', async () => {
    const folder = await mkdtemp(join(bench.folder, 'programs-'));
    await chmod(folder, 0o755);
    const program = join(folder, 'text');
    await writeFile(program, 'text', { mode: 0o755 });
    const readOnly = [...bench.python.prefixes, folder];
    const running = bench.start(bench.spec('hello.py', [], { argv: [program], readOnly }));
    const exit = await running.then(({ run }) => run.finished);
    expect(exit).toMatchObject({ kind: 'failed', stage: 'exec' });
  });

  test('waits until a script has handled the stop signal', async () => {
    const running = await bench.start(bench.spec('stubborn.py', ['polite']));
    await running.seen('waiting');
    running.run.stop();
    expect(await running.run.finished).toMatchObject({ exitCode: 7, reason: 'stopped' });
  });

  test('kills a script that ignores the stop signal after the grace period', async () => {
    const running = await bench.start(bench.spec('stubborn.py'));
    await running.seen('waiting');
    running.run.stop(100);
    expect(await running.run.finished).toMatchObject({ signal: 'SIGKILL', reason: 'stopped' });
  });

  test('resumes a suspended script before it stops the script', async () => {
    const running = await bench.start(bench.spec('stubborn.py', ['polite', 'frozen']));
    await running.seen('waiting');
    running.run.stop();
    expect(await running.run.finished).toMatchObject({ exitCode: 7, reason: 'stopped' });
  });

  test('terminates a run at the time limit', async () => {
    const { exit } = await bench.run('stubborn.py', [], {
      limits: { ...NO_LIMITS, wallClockSeconds: 0.3 },
      stopGraceMs: 50,
    });
    expect(exit).toMatchObject({
      reason: 'timeout',
      detail: 'time limit of 0.3 s exceeded: the run was still active',
    });
  });

  test('terminates a run whose double-forked descendant keeps the output open', async () => {
    const mark = `mark-leaves-${process.pid}-${without.length}`;
    const { exit, stdout } = await bench.run('escape.py', [mark, 'exit']);
    expect(exit).toMatchObject({ exitCode: 0, reason: null });
    expect(stdout).toContain('held');
    expect(await processesWith(mark)).toEqual([]);
  });

  test('kills processes that have left the process group', async () => {
    const mark = `mark-stays-${process.pid}-${without.length}`;
    const running = await bench.start(bench.spec('escape.py', [mark, 'stay']));
    await running.seen('held');
    expect(await processesWith(mark)).not.toEqual([]);
    running.run.stop(50);
    expect(await running.run.finished).toMatchObject({ reason: 'stopped' });
    expect(await processesWith(mark)).toEqual([]);
  });

  test('kills a chain of forks with constantly changing process IDs', async () => {
    const mark = `mark-chain-${process.pid}-${without.length}`;
    const running = await bench.start(bench.spec('chain.py', [mark, 'stay']));
    await running.seen('chained');
    running.run.stop(50);
    expect(await running.run.finished).toMatchObject({ reason: 'stopped' });
    expect(await processesWith(mark)).toEqual([]);
    expect((await bench.run('chain.py', [mark])).exit).toMatchObject({ exitCode: 0 });
    expect(await processesWith(mark)).toEqual([]);
  });

  test('does not terminate a script that closes its output streams', async () => {
    const dataFolder = join(bench.folder, 'data', `closed-${without.length}`);
    const { exit } = await bench.run('closes_output.py', [], { dataFolder });
    expect(exit).toMatchObject({ exitCode: 3 });
    expect(await readFile(join(dataFolder, 'mark'), 'utf8')).toBe('went on');
  });

  test('delivers binary output and a megabyte without newlines completely', async () => {
    expect((await bench.run('output.py', ['long'])).stdout).toBe('x'.repeat(1_000_000));
    const binary = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte)).toString('latin1');
    expect((await bench.run('output.py', ['binary'])).stdout).toBe(binary);
  });

  test('delivers a hundred thousand lines in order', async () => {
    const { stdout, exit } = await bench.run('output.py', ['lines']);
    expect(exit).toMatchObject({ exitCode: 0 });
    expect(stdout).toBe(Array.from({ length: 100_000 }, (_, line) => `line ${line}\n`).join(''));
  });

  test('blocks the script while the observer does not read, but can still stop the script', async () => {
    const release = Promise.withResolvers<void>();
    let taken = 0;
    const running = await bench.start(bench.spec('output.py', ['endless']), {
      output: (_stream, chunk) => {
        taken += chunk.length;
        return release.promise;
      },
    });
    await running.seen('endless');
    running.run.stop(50);
    // The supervisor must stop the run even if no output has been read yet.
    await gone(running.run.pid);
    release.resolve();
    expect(await running.run.finished).toMatchObject({ reason: 'stopped' });
    expect(taken).toBeLessThan(4 * 1024 * 1024);
  });
});
