/**
 * Finds interpreters that were installed with version managers: pyenv, asdf, mise and uv. A manager's shim on the PATH
 * starts only one version, so the manager's folder is searched for other versions.
 */
import { execFile } from 'node:child_process';
import { readdir } from 'node:fs/promises';
import { delimiter, isAbsolute, join } from 'node:path';
import { promisify } from 'node:util';

type Environment = Readonly<Record<string, string | undefined>>;

const answerTimeoutMs = 20_000;

/** Returns the paths of `python3` in all installations, newest version first. Only executes `uv python dir`. */
export async function managedInterpreters(environment: Environment): Promise<readonly string[]> {
  const folders = new Set([...defaultFolders(environment), await uvFolder(environment)]);
  const found = await Promise.all(
    [...folders].filter((folder) => folder !== undefined).map(installationsIn),
  );
  return found.flat();
}

function defaultFolders(environment: Environment): readonly (string | undefined)[] {
  const { HOME: home = '' } = environment;
  const data = folderOf(environment['XDG_DATA_HOME']) ?? join(home, '.local/share');
  const pyenv = folderOf(environment['PYENV_ROOT']) ?? join(home, '.pyenv');
  const asdf = folderOf(environment['ASDF_DATA_DIR']) ?? join(home, '.asdf');
  const mise = folderOf(environment['MISE_DATA_DIR']) ?? join(data, 'mise');
  const uv = folderOf(environment['UV_PYTHON_INSTALL_DIR']) ?? join(data, 'uv/python');
  return [
    join(pyenv, 'versions'),
    join(asdf, 'installs/python'),
    join(mise, 'installs/python'),
    uv,
  ].filter((folder) => isAbsolute(folder));
}

function folderOf(value: string | undefined): string | undefined {
  return value !== undefined && isAbsolute(value) ? value : undefined;
}

/** Returns uv's interpreter folder, as configured in uv itself. */
async function uvFolder(environment: Environment): Promise<string | undefined> {
  for (const folder of (environment['PATH'] ?? '').split(delimiter)) {
    if (!isAbsolute(folder)) continue;
    try {
      const options = { timeout: answerTimeoutMs, cwd: '/', env: environment };
      const { stdout } = await promisify(execFile)(join(folder, 'uv'), ['python', 'dir'], options);
      return folderOf(stdout.trim());
    } catch {
      // uv is missing, or does not manage any interpreters.
    }
  }
  return undefined;
}

async function installationsIn(folder: string): Promise<readonly string[]> {
  const names = await readdir(folder).catch(() => []);
  return names
    .filter((name) => !name.startsWith('.'))
    .toSorted((one, other) => other.localeCompare(one, 'en', { numeric: true }))
    .map((name) => join(folder, name, 'bin', 'python3'));
}
