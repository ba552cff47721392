/** Creates virtual environments (PEP 405) in milliseconds, while `python -m venv` takes seconds. The environments
 *  have neither pip nor activation scripts. */
import { mkdir, readlink, symlink, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { headOf } from './installed.ts';
import type { Interpreter } from './interpreter.ts';

/** Returns the path of an environment's interpreter. */
export function pythonOf(environment: string): string {
  return join(environment, 'bin', 'python');
}

/** Returns the path of an environment's package folder. */
export function packagesOf(environment: string, interpreter: Interpreter): string {
  return join(environment, 'lib', interpreter.libraryName, 'site-packages');
}

/** The interpreter from which an environment was created, with links resolved. */
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
  // The user that executes runs must be able to read these folders.
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

/** Creates only the parts of an environment that an interpreter reads before `site`: the interpreter's link and the
 *  configuration. The folder must not exist. */
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
 *  so code outside the sandbox must not rely on the result.
 *  @throws if the environment does not exist */
export async function isAsMade(folder: string, interpreter: BaseInterpreter): Promise<boolean> {
  const made = configuration(interpreter);
  const [target, text] = await Promise.all([
    readlink(pythonOf(folder)),
    headOf(join(folder, 'pyvenv.cfg'), Buffer.byteLength(made) + 1),
  ]);
  return target === interpreter.executable && text === made;
}
