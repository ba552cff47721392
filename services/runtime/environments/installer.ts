/** Selects the program that installs packages: uv if available, otherwise the interpreter's pip. */
import { execFile } from 'node:child_process';
import { constants } from 'node:fs';
import { access, open, realpath } from 'node:fs/promises';
import { delimiter, dirname, isAbsolute, join } from 'node:path';
import { promisify } from 'node:util';
import { needsPip, uvVariables, type IndexSettings } from './index-settings.ts';
import type { Interpreter } from './interpreter.ts';
import { lockOfLines, lockOfReport } from './lock.ts';
import { pythonOf } from './virtual-environment.ts';

export interface Installation {
  readonly environment: string;
  readonly requirementsFile: string;
  /** A constraints file for the resolution. */
  readonly constraintsFile?: string;
  /** Installs exactly the listed packages. With `hashes`, the files must also match their hashes. */
  readonly exact?: 'hashes' | 'versions';
  /** The file to which the installer writes the resolved packages. */
  readonly choiceFile?: string;
  /** The persistent cache folder, or null for no cache. */
  readonly cacheFolder: string | null;
  /** The temporary folder, which is removed after the build. */
  readonly workFolder: string;
}

export interface Installer {
  /** The name in the log, such as `pip 26.1`. */
  readonly name: string;
  /** Returns the commands to execute, in order. */
  commands(installation: Installation): readonly Command[];
  /** Parses the content of a `choiceFile`. */
  readonly lockOf: (choice: string) => string | undefined;
  readonly variables: Readonly<Record<string, string>>;
  readonly readable: readonly string[];
}

type Command = readonly [string, ...string[]];

/** Thrown if neither uv nor a recent pip is available. */
export class NoInstaller extends Error {
  override readonly name = 'NoInstaller';
}

const ANSWER_TIMEOUT_MS = 20_000;
// The first pip version that can install into another interpreter's environment (`--python`).
const OLDEST_PIP = [22, 3] as const;
const UV_INSTALL = [
  'pip',
  'install',
  '--no-progress',
  '--no-python-downloads',
  '--compile-bytecode',
  '--link-mode=copy',
];
const UV_CHOOSE = [
  'pip',
  'compile',
  '--quiet',
  '--no-python-downloads',
  '--no-header',
  '--no-annotate',
  '--generate-hashes',
];
const PIP_INSTALL = [
  'install',
  '--no-input',
  '--disable-pip-version-check',
  '--no-warn-script-location',
  '--progress-bar=off',
];
// A program that finds the interpreter's own pip, or the bundled wheel for new environments.
const PIP_QUESTION = `
import glob, json, os
found = []
try:
    import pip
    found.append({"start": ["-I", "-m", "pip"], "version": pip.__version__})
except ImportError:
    pass
try:
    import ensurepip
    folder = os.path.join(os.path.dirname(ensurepip.__file__), "_bundled")
    for wheel in glob.glob(folder + "/pip-*.whl") + glob.glob("/usr/share/python-wheels/pip-*.whl"):
        version = os.path.basename(wheel).split("-")[1]
        found.append({"start": ["-I", os.path.join(wheel, "pip")], "version": version})
except ImportError:
    pass
print(json.dumps(found))`;

async function answerOf(command: string, ...args: readonly string[]): Promise<string | undefined> {
  try {
    const options = { timeout: ANSWER_TIMEOUT_MS, cwd: '/' };
    return (await promisify(execFile)(command, [...args], options)).stdout.trim();
  } catch {
    return undefined;
  }
}

function isNewEnough(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map((part) => Number.parseInt(part, 10));
  return major > OLDEST_PIP[0] || (major === OLDEST_PIP[0] && minor >= OLDEST_PIP[1]);
}

/** Returns the first executable with that name. Skips scripts, because a version manager's shim starts a program
 *  that is not visible in the sandbox. */
async function onPath(name: string, path: string): Promise<string | undefined> {
  for (const folder of path.split(delimiter)) {
    const file = join(folder, name);
    if (isAbsolute(folder) && (await isProgram(file))) return file;
  }
  return undefined;
}

async function isProgram(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK);
    await using file = await open(path);
    const { buffer } = await file.read(Buffer.alloc(2), 0, 2, 0);
    return buffer.toString('latin1') !== '#!';
  } catch {
    return false;
  }
}

function uvCommands(uv: string, installation: Installation): readonly Command[] {
  const { environment, requirementsFile, choiceFile, cacheFolder, workFolder } = installation;
  const common = [
    '--python',
    pythonOf(environment),
    '--cache-dir',
    cacheFolder ?? join(workFolder, 'cache'),
    ...constraintsOf(installation),
  ];
  if (choiceFile === undefined) {
    const exact = exactOf(installation);
    return [[uv, ...UV_INSTALL, ...common, ...exact, '--requirements', requirementsFile]];
  }
  return [
    [uv, ...UV_CHOOSE, ...common, '--output-file', choiceFile, requirementsFile],
    [uv, ...UV_INSTALL, ...common, '--no-deps', '--requirements', choiceFile],
  ];
}

function constraintsOf({ constraintsFile }: Installation): readonly string[] {
  return constraintsFile === undefined ? [] : ['--constraint', constraintsFile];
}

function exactOf({ exact }: Installation): readonly string[] {
  if (exact === undefined) return [];
  return exact === 'hashes' ? ['--no-deps', '--require-hashes'] : ['--no-deps'];
}

async function findUv(settings: IndexSettings, path: string): Promise<Installer | undefined> {
  const found = needsPip(settings) ? undefined : await onPath('uv', path);
  const version = found && (await answerOf(found, '--version'));
  if (found === undefined || version === undefined || !version.startsWith('uv ')) return undefined;
  const uv = await realpath(found);
  return {
    name: version.split(' ').slice(0, 2).join(' '),
    commands: (installation) => uvCommands(uv, installation),
    lockOf: lockOfLines,
    variables: uvVariables(settings),
    readable: [dirname(uv)],
  };
}

async function findPip(settings: IndexSettings, python: string): Promise<Installer | undefined> {
  const answer = (await answerOf(python, '-I', '-c', PIP_QUESTION)) ?? '[]';
  const found = JSON.parse(answer) as { start: string[]; version: string }[];
  const { start, version } = found.find((each) => isNewEnough(each.version)) ?? {};
  if (start === undefined || version === undefined) return undefined;
  return {
    name: `pip ${version}`,
    commands: (installation) => {
      const { environment, requirementsFile, choiceFile, cacheFolder } = installation;
      const cache = cacheFolder === null ? ['--no-cache-dir'] : ['--cache-dir', cacheFolder];
      const pip = [...start, '--python', pythonOf(environment), ...PIP_INSTALL, ...cache];
      const report = choiceFile === undefined ? [] : ['--report', choiceFile];
      const which = [...constraintsOf(installation), ...exactOf(installation), ...report];
      return [[python, ...pip, ...which, '--requirement', requirementsFile]];
    },
    lockOf: lockOfReport,
    variables: settings.pip,
    readable: [],
  };
}

/** Finds an installer.
 *  @param path the search path for commands, in the format of `PATH`
 *  @throws NoInstaller */
export async function findInstaller(
  interpreter: Interpreter,
  settings: IndexSettings,
  path: string,
): Promise<Installer> {
  const { executable, version } = interpreter;
  const found = (await findUv(settings, path)) ?? (await findPip(settings, executable));
  if (found !== undefined) return found;
  throw new NoInstaller(
    `Python ${version} (${executable}) has no pip 22.3 or newer, and uv is not on the PATH. Install one ` +
      'of them; on Debian and Ubuntu, run `apt-get install python3-pip`.',
  );
}
