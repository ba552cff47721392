/** Tests that code which an interpreter executes when it starts stays inside the sandbox. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, glob, readdir, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeWith } from '../../../scripts/testing/optional-service.ts';
import { askInterpreter, type Interpreter } from '../environments/interpreter.ts';
import { makeVirtualEnvironment, pythonOf } from '../environments/virtual-environment.ts';
import { startVariables } from '../sandbox/keeper-process.ts';
import { listPythons } from '../sandbox/python.ts';
import { namespaces } from '../sandbox/testing/machine.ts';
import { plant, startHooks } from '../sandbox/testing/start-hooks.ts';
import { WarmBench } from './testing/warm-bench.ts';

/** Returns one interpreter for each minor version, including those from version managers. */
async function interpreters(): Promise<ReadonlyMap<string, Interpreter>> {
  const folders = await Array.fromAsync(glob(join(homedir(), '.pyenv/versions/*/bin')));
  const found = await listPythons([process.env['PATH'], ...folders].join(':'));
  const asked = await Promise.all(found.map(({ executable }) => askInterpreter(executable)));
  return new Map(asked.map((each) => [each.libraryName, each]));
}

const pythons = await interpreters();

for (const [library, interpreter] of pythons) {
  describeWith(namespaces, `startup hooks of ${library}`, () => {
    const hooks = startHooks(library);
    let bench: WarmBench;
    beforeAll(async () => {
      bench = await WarmBench.open({ python: interpreter.executable });
    });
    afterAll(() => bench.close());

    async function newEnvironment(name: string): Promise<string> {
      const environment = join(bench.bench.folder, name);
      await makeVirtualEnvironment(environment, interpreter);
      return environment;
    }

    const trapOf = (index: number) => ({
      mark: join(bench.bench.folder, 'data', `mark-${index}`),
      lure: join(bench.bench.folder, 'lures', String(index)),
    });

    async function marks(): Promise<readonly string[]> {
      return await readdir(join(bench.bench.folder, 'data'));
    }

    /** Finds the hooks that an interpreter executes when it starts in their environment. One hook may prevent others,
     *  so executed hooks are removed and the interpreter is started again. */
    async function executedHooks(): Promise<readonly number[]> {
      const [untouched, environment] = [
        await newEnvironment('untouched'),
        await newEnvironment('bare'),
      ];
      for (const [index, hook] of hooks.entries()) await plant(environment, hook, trapOf(index));
      const executed: number[] = [];
      for (;;) {
        const options = { cwd: '/', stdio: 'ignore', env: startVariables } as const;
        await once(spawn(pythonOf(environment), ['-c', ''], options), 'exit');
        const found = await marks();
        if (found.length === 0) return executed;
        for (const name of found) {
          const index = Number(name.replace('mark-', ''));
          executed.push(index);
          const [hook = ''] = hooks.slice(index);
          await rm(join(bench.bench.folder, 'data', name));
          await rm(join(environment, hook));
          await cp(join(untouched, hook), join(environment, hook), {
            verbatimSymlinks: true,
          }).catch(() => undefined);
        }
      }
    }

    /** Executes a run without a keeper in the environment, and a run with a keeper for this environment. */
    async function runBothWays(environment: string, scriptId: string): Promise<void> {
      const lures = join(bench.bench.folder, 'lures');
      const spec = await bench.warm(
        { 'main.py': '' },
        {
          scriptId,
          argv: [pythonOf(environment), 'main.py'],
          readOnly: [...bench.bench.python.prefixes, environment, lures],
        },
      );
      await bench.outcome(spec);
      await bench.bench.sandbox.keepersMade;
      expect(bench.bench.sandbox.scripts).toContain(scriptId);
      await bench.outcome(spec);
    }

    test('leave no trace outside the run, although an interpreter in their environment executes them', async () => {
      const executed = await executedHooks();
      const names = executed.map((index) => hooks[index]).join(', ');
      process.stdout.write(
        `${library}: of ${hooks.length} hooks an interpreter executes ${names}\n`,
      );
      expect(executed.length).toBeGreaterThan(3);
      for (const index of executed) {
        const environment = await newEnvironment(`planted-${index}`);
        await plant(environment, hooks[index] ?? '', trapOf(index));
        await runBothWays(environment, `script-${index}`);
        expect(await marks(), hooks[index]).toEqual([]);
      }
      const environment = await newEnvironment('planted');
      for (const [index, hook] of hooks.entries()) await plant(environment, hook, trapOf(index));
      await runBothWays(environment, 'script-all');
      expect(await marks()).toEqual([]);
    });
  });
}
