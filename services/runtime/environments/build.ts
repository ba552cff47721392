/** Performs one build: creates a folder, installs packages in it, and reports output line by line. */
import { chmod, cp, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createLineSplitter } from '#services/shared/line-splitter.ts';
import type { BuildRunner } from './build-runner.ts';
import { privateMode } from './folders.ts';
import type { IndexSettings } from './index-settings.ts';
import type { Installer } from './installer.ts';
import { headOf } from './installed.ts';
import type { Interpreter } from './interpreter.ts';
import { hasHashes, pinsOf } from './lock.ts';

export interface Build {
  readonly scriptId: string;
  /** A virtual environment without packages. */
  readonly environment: string;
  /** The path of the work folder, which must not exist. The caller removes the folder afterwards. */
  readonly workFolder: string;
  readonly cacheFolder: string | null;
  /** A folder with the script's files, if the requirements can refer to them. */
  readonly projectFolder: string | undefined;
  readonly kind: 'shared' | 'private';
  readonly requirements: string;
  /** The previously resolved packages, which must be installed again. */
  readonly lock: string | undefined;
  readonly interpreter: Interpreter;
  readonly installer: Installer;
  readonly settings: IndexSettings;
  readonly onLine: (line: string) => void | Promise<void>;
  readonly signal: AbortSignal;
}

const SYSTEM_PATH = '/usr/local/bin:/usr/bin:/bin';
const TAIL_LINES = 40;
const MAX_DETAIL_CHARACTERS = 4_000;
// The maximum size of an installer's report. A pip report contains the metadata of every package.
const MAX_CHOICE_BYTES = 16 * 1024 * 1024;

async function writeSettings(build: Build, home: string): Promise<Record<string, string>> {
  const { pipConfig, uvConfig } = build.settings;
  const variables: Record<string, string> = {};
  // Copies the user's configuration into the build's folder, because a build cannot read the original file. A
  // configuration in /etc is readable.
  if (pipConfig !== undefined && !pipConfig.path.startsWith('/etc/')) {
    variables['PIP_CONFIG_FILE'] = join(home, 'pip.conf');
    await writeFile(join(home, 'pip.conf'), pipConfig.content);
  }
  if (uvConfig !== undefined && !uvConfig.path.startsWith('/etc/')) {
    variables['UV_CONFIG_FILE'] = join(home, 'uv.toml');
    await writeFile(join(home, 'uv.toml'), uvConfig.content);
  }
  return variables;
}

/** Prepares the folder to which relative requirements refer. An editable install refers to its source files
 *  permanently, so the files are kept with the environment. */
async function startFolder(build: Build, home: string): Promise<string> {
  if (build.projectFolder === undefined) return home;
  const project = join(build.environment, 'project');
  await cp(build.projectFolder, project, { recursive: true });
  return project;
}

/** Writes the requirements and their constraints to files. */
async function writeRequirements(build: Build, cwd: string) {
  const { kind, lock, workFolder } = build;
  const requirementsFile = join(cwd, 'requirements.txt');
  const isExact = lock !== undefined && kind === 'shared';
  await writeFile(requirementsFile, isExact ? lock : build.requirements);
  if (isExact) {
    return { requirementsFile, exact: hasHashes(lock) ? 'hashes' : 'versions' } as const;
  }
  // Pins versions without hashes, because packages from the script's own files have no hashes.
  if (kind === 'shared') return { requirementsFile, choiceFile: choiceOf(build) };
  if (lock === undefined) return { requirementsFile };
  const constraintsFile = join(workFolder, 'constraints.txt');
  await writeFile(constraintsFile, pinsOf(lock));
  return { requirementsFile, constraintsFile };
}

function choiceOf({ workFolder }: Build): string {
  return join(workFolder, 'choice');
}

async function prepare(build: Build) {
  const home = build.workFolder;
  const temporary = join(home, 'tmp');
  await mkdir(temporary, { recursive: true });
  await chmod(home, privateMode);
  if (build.cacheFolder !== null) {
    await mkdir(build.cacheFolder, { recursive: true });
    await chmod(build.cacheFolder, privateMode);
  }
  const { environment, cacheFolder, workFolder, installer, settings } = build;
  const cwd = await startFolder(build, home);
  const which = await writeRequirements(build, cwd);
  return {
    commands: installer.commands({ environment, cacheFolder, workFolder, ...which }),
    env: {
      ...settings.common,
      ...installer.variables,
      ...(await writeSettings(build, home)),
      PATH: SYSTEM_PATH,
      HOME: home,
      TMPDIR: temporary,
      LANG: 'C.UTF-8',
      NO_COLOR: '1',
    },
    cwd,
    readable: [...build.interpreter.prefixes, ...installer.readable, ...settings.paths],
    writable: [environment, home, ...(cacheFolder === null ? [] : [cacheFolder])],
  };
}

/** Matches pip's retry message for a broken connection, which includes the exception. */
const brokenConnection = /^\s*WARNING: Retrying .* after connection broken by '(.+)': \S+$/;

/** Returns the exception of a broken connection from a line of pip's output, without memory addresses. */
function connectionErrorIn(line: string): string | undefined {
  return brokenConnection.exec(line)?.[1]?.replaceAll(/<[^>]* at 0x[^>]*>[:,] /g, '');
}

/** Adds the connection error to the reason. If an index is unreachable, pip only reports that no version of a
 *  package exists. */
function withCause(reason: string, connectionError: string | undefined): string {
  const isMissing = reason.includes('(from versions: none)');
  if (!isMissing || connectionError === undefined) return reason;
  return `The package index could not be reached: ${connectionError}.\n${reason}`;
}

/** Finds the error description in the output. */
function reasonIn(tail: readonly string[]): string {
  const first = tail.findIndex((line) => /^\s*(?:error\b|×)/i.test(line));
  const reason = tail.slice(Math.max(0, first)).join('\n').slice(-MAX_DETAIL_CHARACTERS);
  return reason.replace(/^\s*(?:error:|×)\s*/i, '');
}

export type Installed =
  /** The resolved packages, if known. */
  | { readonly status: 'installed'; readonly choice: string | undefined }
  /** Why the installer failed. */
  | { readonly status: 'failed'; readonly problem: string };

/** Installs the requirements, or the locked packages.
 *  @throws the runner's error, or the reason of `signal` */
export async function install(build: Build, runner: BuildRunner): Promise<Installed> {
  const splitter = createLineSplitter();
  const tail: string[] = [];
  let connectionError: string | undefined;
  const pass = async (lines: readonly { readonly text: string }[]) => {
    for (const line of lines) {
      // Removes host paths from the output, because script authors have no access to them.
      const text = line.text
        .replaceAll(`${build.workFolder}/`, '')
        .replaceAll(`${build.environment}/project/`, '');
      connectionError = connectionErrorIn(text) ?? connectionError;
      tail.push(text);
      if (tail.length > TAIL_LINES) tail.shift();
      await build.onLine(text);
    }
  };
  const { commands, ...surroundings } = await prepare(build);
  for (const argv of commands) {
    const { exitCode } = await runner.run({
      ...surroundings,
      argv,
      scriptId: build.scriptId,
      signal: build.signal,
      onOutput: (stream, bytes) => pass(splitter.push(stream, bytes)),
    });
    await pass(splitter.flush(true));
    build.signal.throwIfAborted();
    if (exitCode === 0) continue;
    const end = exitCode === null ? 'was killed' : `failed with exit code ${exitCode}`;
    const reason = withCause(reasonIn(tail), connectionError);
    return {
      status: 'failed',
      problem: `${reason}\n${build.installer.name} ${end}.`.trimStart(),
    };
  }
  const choice = await headOf(choiceOf(build), MAX_CHOICE_BYTES);
  return { status: 'installed', choice: choice && build.installer.lockOf(choice) };
}
