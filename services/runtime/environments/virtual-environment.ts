/** Virtual environments made by hand, in milliseconds: what `python -m venv` makes in seconds, without
 *  pip and without scripts for interactive shells (PEP 405). */
import { mkdir, readlink, symlink, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { headOf } from './installed.ts';
import type { Interpreter } from './interpreter.ts';

/** The interpreter of an environment. */
export function pythonOf(environment: string): string {
  return join(environment, 'bin', 'python');
}

/** Where an environment's packages are. */
export function packagesOf(environment: string, interpreter: Interpreter): string {
  return join(environment, 'lib', interpreter.libraryName, 'site-packages');
}

/** The real interpreter behind an environment, links resolved. */
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

/** Makes an environment without packages in a folder that does not exist yet. */
export async function makeVirtualEnvironment(
  folder: string,
  interpreter: Interpreter,
): Promise<void> {
  await makeBareEnvironment(folder, interpreter);
  // Readable by the user that runs belong to.
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

/** Makes what an interpreter reads of an environment before it imports `site`: its link and its
 *  configuration, and nothing else. The folder does not exist yet. */
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

/** Whether a cold start in this environment finds the interpreter that it was made from.
 *  A script's packages can change that, so nothing that runs outside the sandbox relies on the answer.
 *  @throws when the environment is not there */
export async function isAsMade(folder: string, interpreter: BaseInterpreter): Promise<boolean> {
  const made = configuration(interpreter);
  const [target, text] = await Promise.all([
    readlink(pythonOf(folder)),
    headOf(join(folder, 'pyvenv.cfg'), Buffer.byteLength(made) + 1),
  ]);
  return target === interpreter.executable && text === made;
}
