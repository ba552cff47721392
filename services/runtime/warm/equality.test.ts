import { readFile, rm, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeWith } from '../../../scripts/testing/optional-service.ts';
import { entrypointArgument } from '../entrypoint-argument.ts';
import { until, type Outcome } from '../sandbox/testing/bench.ts';
import { namespaces, user0 } from '../sandbox/testing/machine.ts';
import { sameScripts } from './testing/same-scripts.ts';
import { WarmBench, type Files } from './testing/warm-bench.ts';

const STATE = fileURLToPath(new URL('../sandbox/fixtures/state.py', import.meta.url));

describeWith(namespaces, 'a keeper with all permitted modules imported', () => {
  let bench: WarmBench;
  let keeper: number;
  beforeAll(async () => {
    bench = await WarmBench.open();
    keeper = await bench.kept(await bench.warm({ 'main.py': '' }));
  });
  afterAll(() => bench.close());

  async function bothWays(files: Files): Promise<readonly [Outcome, Outcome]> {
    const cold = await bench.outcome(await bench.cold(files));
    const running = await bench.bench.start(await bench.warm(files));
    return [cold, await running.outcome()];
  }

  test.for(Object.entries(sameScripts))(
    'runs a script like a cold interpreter: %s',
    async ([, files]) => {
      const [cold, warm] = await bothWays(files);
      expect(shown(warm)).toEqual(shown(cold));
    },
  );

  test('has the same internal state as a cold interpreter', async () => {
    const [cold, warm] = await bothWays({ 'main.py': await readFile(STATE, 'utf8') });
    expect(shown(warm)).toEqual(shown(cold));
    expect(JSON.parse(warm.stdout)).toMatchObject({ 'no frame beneath': true });
  });

  test('executes a run in the process that was prepared for it', async () => {
    const files = { 'main.py': 'import time; time.sleep(60)' };
    const running = await bench.bench.start(await bench.warm(files));
    expect(await bench.keeperOf(running)).toBe(keeper);
    running.run.kill();
    await running.run.closed;
  });

  test("executes the environment's startup hooks within the run", async () => {
    const mark = join(bench.bench.folder, 'data', 'mark');
    const line = `import os; print('path file', os.getpid()); os.path.exists('/workspaces') or open('${mark}', 'w')`;
    await writeFile(join(bench.packages, 'own.pth'), `${line}\n/nowhere\n`);
    await writeFile(join(bench.packages, 'sitecustomize.py'), "print('customized', __name__)\n");
    const [cold, warm] = await bothWays({ 'main.py': 'import sys\nprint(sys.path)' });
    expect(shown(warm)).toEqual(shown(cold));
    // The system's own sitecustomize.py, for example Debian's, may take precedence.
    expect(warm.stdout).toContain('path file');
    await expect(readFile(mark)).rejects.toThrow(/ENOENT/);
    await rm(join(bench.packages, 'own.pth'));
    await rm(join(bench.packages, 'sitecustomize.py'));
  });

  // Only root may read which system call the process is waiting in.
  describeWith(user0, 'as user 0', () => {
    test.each(['own.pth', 'sitecustomize.py'])(
      'executes neither %s nor the script before the start signal',
      async (name) => {
        await writeFile(join(bench.packages, name), "import os; os.write(1, b'executed ')\n");
        const files = { 'main.py': "print('script')" };
        let output = '';
        const observer = {
          output: (_stream: string, chunk: Buffer) => void (output += chunk.toString()),
          sample: () => undefined,
        };
        const held = await bench.bench.sandbox.prepare(await bench.warm(files), observer);
        await until(async () => await receives(held.pid));
        held.kill();
        await held.closed;
        expect(output).toBe('');
        const [cold, warm] = await bothWays(files);
        await rm(join(bench.packages, name));
        expect(shown(warm)).toEqual(shown(cold));
      },
    );
  });

  test('gives each run different random values, except for the hash seed', async () => {
    const files = {
      'main.py': `import random, secrets, uuid, tempfile, os
print(random.random(), secrets.token_hex(), uuid.uuid4(), uuid.uuid1(), tempfile.mktemp(), os.urandom(4).hex())
print(hash('text'))`,
    };
    const [first = '', second = ''] = await Promise.all(
      [1, 2].map(async () => (await bench.outcome(await bench.warm(files))).stdout),
    );
    const values = (text: string) => text.split('\n')[0]?.split(' ') ?? [];
    expect(values(first)).toHaveLength(6);
    for (const [index, value] of values(first).entries()) {
      expect(value).not.toBe(values(second)[index]);
    }
    expect(first.split('\n')[1]).toBe(second.split('\n')[1]);
  });

  test('executes every run in this suite', () => {
    expect(bench.bench.sandbox.keeperPids).toEqual([keeper]);
  });
});

/** Whether the process is waiting for a message before it starts. */
async function receives(pid: number): Promise<boolean> {
  const [number = ''] = (await readFile(`/proc/${pid}/syscall`, 'utf8')).split(' ');
  return number === (process.arch === 'x64' ? '45' : '207');
}

describeWith(namespaces, 'an entry point that looks like an option', () => {
  let bench: WarmBench;
  beforeAll(async () => {
    bench = await WarmBench.open();
  });
  afterAll(() => bench.close());

  test.each(['-c', '-', '--help', 'sub/-c', 'with space.py'])(
    'is executed as a file: %j',
    async (entrypoint) => {
      const source = 'import sys\nprint(sys.argv, __file__, sys.path[0])\n1 / 0';
      const files = { 'main.py': '', [entrypoint]: source };
      const word = entrypointArgument(entrypoint);
      const change = { argv: [bench.python, word] as const, scriptId: 'entry' };
      const keeper = await bench.kept(await bench.warm(files, change));
      const cold = await bench.outcome(await bench.cold(files, change));
      const waiting = { ...files, [entrypoint]: 'import time; time.sleep(60)' };
      const running = await bench.bench.start(await bench.warm(waiting, change));
      expect(await bench.keeperOf(running)).toBe(keeper);
      running.run.kill();
      await running.run.closed;
      const warm = await bench.outcome(await bench.warm(files, change));
      expect(shown(warm)).toEqual(shown(cold));
      expect(warm.stdout).toContain(`['${word}'] /workspaces/`);
      expect(warm.stderr).toContain('ZeroDivisionError');
    },
  );
});

function shown({ exit, stdout, stderr }: Outcome) {
  const steady = (text: string) =>
    text
      .replaceAll(/0x[0-9a-f]+/g, '0x…')
      .replaceAll(/\/tmp\/orch-bench-\w+/g, '…')
      .replaceAll(/at 0x…|pid=\d+|tmp\w+/g, '…');
  if (exit.kind !== 'exited') return { exit, stdout, stderr };
  const { exitCode, signal, reason } = exit;
  return { exitCode, signal, reason, stdout: steady(stdout), stderr: steady(stderr) };
}
