/** Finds the Python interpreter for scripts. */
import { execFile } from 'node:child_process';
import { access, constants } from 'node:fs/promises';
import { delimiter, isAbsolute, join } from 'node:path';
import { promisify } from 'node:util';

const OLDEST: Version = [3, 9];
const NEWEST_MINOR = 20;
const ANSWER_TIMEOUT_MS = 20_000;
// A program that prints the properties of its interpreter. For a version manager's shim, these are the properties of
// the real interpreter. For a virtual environment, they are those of its base interpreter.
const QUESTION = `
import json, sys
print(json.dumps({
    "executable": getattr(sys, "_base_executable", None) or sys.executable,
    "version": list(sys.version_info[:3]),
    "prefixes": sorted({sys.base_prefix, sys.base_exec_prefix}),
}))`;

type Version = readonly [major: number, minor: number, micro?: number];

export interface Python {
  /** The absolute path of the real interpreter. */
  readonly executable: string;
  /** The version, such as `3.12.1`. */
  readonly version: string;
  /** Folders that the interpreter must be able to read. */
  readonly prefixes: readonly string[];
}

export interface PythonQuery {
  /** The configured command or path (setting `ORCH_PYTHON`). If it is not set, known interpreter names are tried. */
  readonly configured?: string | undefined;
  /** The requested version: `3` or `3.12`. Default: any supported version. */
  readonly version?: string | undefined;
  /** The search path for commands, in the format of `PATH`. */
  readonly path: string;
}

/** Thrown if no suitable interpreter was found. The message lists the attempts. */
export class PythonNotFound extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'PythonNotFound';
  }
}

/** Finds an interpreter.
 *  @throws PythonNotFound if no interpreter has the requested version, or a version of at least 3.9 */
export async function findPython(query: PythonQuery): Promise<Python> {
  const tried: string[] = [];
  for await (const command of candidates(query)) {
    const answer = await ask(command);
    if (typeof answer === 'string') {
      tried.push(`${command}: ${answer}`);
    } else if (!fits(answer.version, query.version)) {
      tried.push(`${command}: is Python ${answer.version}`);
    } else {
      return answer;
    }
  }
  const wanted =
    query.version === undefined || query.version === '3' ? '3.9 or newer' : query.version;
  const detail = tried.length === 0 ? 'no python3 on the PATH' : tried.join('; ');
  throw new PythonNotFound(
    `No Python ${wanted} found (${detail}). Install Python (on Debian and Ubuntu, run ` +
      '`apt-get install python3 python3-pip`), or set ORCH_PYTHON to its path.',
  );
}

/** Lists all supported interpreters on the path and in `others`, without duplicates.
 *  @param others paths of interpreters, which need not exist */
export async function listPythons(
  path: string,
  others: readonly string[] = [],
): Promise<readonly Python[]> {
  const found = new Map<string, Python>();
  const commands = [...(await Array.fromAsync(candidates({ path }))), ...others];
  for (const command of commands) {
    const answer = await ask(command);
    if (typeof answer === 'string' || !fits(answer.version, undefined)) continue;
    if (!found.has(answer.executable)) found.set(answer.executable, answer);
  }
  return [...found.values()];
}

async function* candidates(query: PythonQuery): AsyncGenerator<string> {
  const names = query.configured === undefined ? defaultNames(query.version) : [query.configured];
  for (const name of names) {
    if (isAbsolute(name)) yield name;
    else yield* onPath(name, query.path);
  }
}

function defaultNames(version: string | undefined): string[] {
  if (version !== undefined && version !== '3') return [`python${version}`, 'python3'];
  const names = ['python3'];
  for (let minor = NEWEST_MINOR; minor >= OLDEST[1]; minor -= 1) names.push(`python3.${minor}`);
  return names;
}

async function* onPath(name: string, path: string): AsyncGenerator<string> {
  for (const folder of path.split(delimiter)) {
    if (!isAbsolute(folder)) continue;
    const command = join(folder, name);
    const executable = await access(command, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (executable) yield command;
  }
}

/** Reads the properties of an interpreter.
 *  @returns the properties, or why the interpreter does not respond */
async function ask(command: string): Promise<Python | string> {
  try {
    const options = { timeout: ANSWER_TIMEOUT_MS, cwd: '/' };
    const { stdout } = await promisify(execFile)(command, ['-I', '-S', '-c', QUESTION], options);
    const answer = JSON.parse(stdout) as Omit<Python, 'version'> & { version: number[] };
    return { ...answer, version: answer.version.join('.') };
  } catch (error) {
    const [firstLine = ''] = (error instanceof Error ? error.message : String(error)).split('\n');
    return firstLine;
  }
}

function fits(found: string, wanted: string | undefined): boolean {
  const [major = 0, minor = 0] = found.split('.').map(Number);
  if (major !== OLDEST[0] || minor < OLDEST[1]) return false;
  return wanted === undefined || wanted === '3' || wanted === `${major}.${minor}`;
}
