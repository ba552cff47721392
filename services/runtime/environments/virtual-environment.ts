/** Creates virtual environments in milliseconds instead of the seconds of `python -m venv`, without pip and without
 *  scripts for interactive shells (PEP 405). */
import { mkdir, readlink, symlink, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { headOf } from './installed.ts';
import type { Interpreter } from './interpreter.ts';

/** The interpreter of an environment. */
export function pythonOf(environment: string): string {
  return join(environment, 'bin', 'python');
}

/** The folder of an environment's packages. */
export function packagesOf(environment: string, interpreter: Interpreter): string {
  return join(environment, 'lib', interpreter.libraryName, 'site-packages');
}

/** The interpreter that an environment was created from, with links resolved. */
export type BaseInterpreter = Pick<Interpreter, 'executable' | 'version'>;

function configuration({ executable, version }: BaseInterpreter): string {
  return [
    `home = ${dirname(executable)}`,
    'include-system-site-packages = false',
    `version = ${version}`,
    `executable = ${executable}`,
    '',
  ].join('\n');
}

/** Creates an environment without packages in a new folder. */
export async function makeVirtualEnvironment(
  folder: string,
  interpreter: Interpreter,
): Promise<void> {
  await makeBareEnvironment(folder, interpreter);
  // The user of the runs must be able to read these folders.
  const options = { recursive: true, mode: 0o755 };
  await Promise.all([
    mkdir(packagesOf(folder, interpreter), options),
    mkdir(join(folder, 'include'), options),
  ]);
  const { executable, libraryName } = interpreter;
  const names = new Set(['python3', libraryName, basename(executable)]);
  names.delete('python');
  await Promise.all([
    symlink('lib', join(folder, 'lib64')),
    ...Array.from(names, (name) => symlink('python', join(folder, 'bin', name))),
  ]);
}

/** Creates the parts of an environment that an interpreter reads before `site`: its link and its configuration. The
 *  folder must not exist. */
export async function makeBareEnvironment(
  folder: string,
  interpreter: BaseInterpreter,
): Promise<void> {
  await mkdir(folder, { mode: 0o755 });
  await mkdir(join(folder, 'bin'), { mode: 0o755 });
  await Promise.all([
    writeFile(join(folder, 'pyvenv.cfg'), configuration(interpreter), { mode: 0o644 }),
    symlink(interpreter.executable, pythonOf(folder)),
  ]);
}

/** Whether the environment still refers to its original interpreter. The script's packages can change the environment,
 *  so nothing outside the sandbox may rely on the result.
 *  @throws if the environment does not exist */
export async function isAsMade(folder: string, interpreter: BaseInterpreter): Promise<boolean> {
  const made = configuration(interpreter);
  const [target, text] = await Promise.all([
    readlink(pythonOf(folder)),
    headOf(join(folder, 'pyvenv.cfg'), Buffer.byteLength(made) + 1),
  ]);
  return target === interpreter.executable && text === made;
}
