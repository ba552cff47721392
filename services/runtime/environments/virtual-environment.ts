/** Virtual environments made by hand, in milliseconds: what `python -m venv` makes in seconds, without
 *  pip and without scripts for interactive shells (PEP 405). */
import { mkdir, readFile, readlink, realpath, symlink, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { Interpreter } from './interpreter.ts';

/** The interpreter of an environment. */
export function pythonOf(environment: string): string {
  return join(environment, 'bin', 'python');
}

/** Where an environment's packages are. */
export function packagesOf(environment: string, interpreter: Interpreter): string {
  return join(environment, 'lib', interpreter.libraryName, 'site-packages');
}

function configuration({
  executable,
  version,
}: Pick<Interpreter, 'executable' | 'version'>): string {
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
  // Readable by the user that runs belong to.
  const options = { recursive: true, mode: 0o755 };
  await mkdir(folder, { mode: 0o755 });
  await Promise.all([
    mkdir(packagesOf(folder, interpreter), options),
    mkdir(join(folder, 'bin'), options),
    mkdir(join(folder, 'include'), options),
  ]);
  const { executable, libraryName } = interpreter;
  const names = new Set(['python3', libraryName, basename(executable)]);
  names.delete('python');
  await Promise.all([
    writeFile(join(folder, 'pyvenv.cfg'), configuration(interpreter), { mode: 0o644 }),
    symlink('lib', join(folder, 'lib64')),
    symlink(executable, pythonOf(folder)),
    ...Array.from(names, (name) => symlink('python', join(folder, 'bin', name))),
  ]);
}

/** Whether an environment still leads to the interpreter that it was made from, and to nothing else.
 *  @param pythonPath the interpreter's path, links not resolved
 *  @throws when the environment is not there */
export async function isAsMade(folder: string, pythonPath: string): Promise<boolean> {
  const [executable, target, text] = await Promise.all([
    realpath(pythonPath),
    readlink(pythonOf(folder)),
    readFile(join(folder, 'pyvenv.cfg'), 'utf8'),
  ]);
  const version = /^version = ([\d.]+)$/m.exec(text)?.[1] ?? '';
  return target === executable && text === configuration({ executable, version });
}
