/** Provides a package index with a few packages, and environments in a separate folder. */
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sourcePackage, wheel } from '../../../../scripts/testing/package-index.ts';
import {
  openEnvironments,
  type EnvironmentRequest,
  type EnvironmentResult,
  type EnvironmentsOptions,
} from '../environments.ts';
import { removeFolder } from '../folders.ts';
import { findPython } from '../../sandbox/python.ts';
import { ChildProcessRunner } from './child-process-runner.ts';

export const packages = [
  wheel({
    name: 'greeter',
    version: '1.2.0',
    files: { 'greeter.py': 'def main():\n    print("hello from greeter")\n' },
    scripts: { greet: 'greeter:main' },
  }),
  wheel({
    name: 'polite_greeter',
    version: '0.1',
    files: { 'polite_greeter.py': 'from greeter import main\n' },
    requires: ['greeter>=1'],
  }),
  sourcePackage(
    'broken',
    '1.0',
    'def build_wheel(*args, **kwargs):\n    raise RuntimeError("no compiler for broken")\n',
  ),
];

export const python = await findPython({ path: process.env['PATH'] ?? '' });

export async function givenEnvironments(options: Partial<EnvironmentsOptions> = {}) {
  const folder = options.folder ?? (await mkdtemp(join(tmpdir(), 'environments-')));
  const runner = new ChildProcessRunner();
  const problems: unknown[] = [];
  const environments = await openEnvironments({
    folder,
    runBuild: runner,
    onProblem: (error) => problems.push(error),
    variables: { PATH: '/usr/bin:/bin' },
    ...options,
  });
  const lines: string[] = [];
  return {
    folder,
    runner,
    problems,
    lines,
    environments,
    ensure: (request: Partial<EnvironmentRequest> = {}) =>
      environments.ensure({
        scriptId: 's1',
        requirements: '',
        pythonPath: python.executable,
        onLog: (line) => void lines.push(line),
        signal: new AbortController().signal,
        ...request,
      }),
    async close() {
      await environments.settle();
      await removeFolder(folder);
    },
  };
}

export type Ready = Extract<EnvironmentResult, { status: 'ready' }>;

/** Returns the environment.
 *  @throws Error with the reason if there is no environment */
export function readyOf(result: EnvironmentResult): Ready {
  if (result.status === 'failed') throw new Error(result.detail);
  return result;
}
