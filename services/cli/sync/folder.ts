/** Reads and writes the files of a project's folder. Symbolic links are never followed. */
import { createHash } from 'node:crypto';
import { lstat, mkdir, open, readdir, readFile, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pathProblem } from '#domain/script/path.ts';
import { maxFileBytes } from '#domain/script/settings.ts';
import { CommandProblem, exitCodes } from '../problem.ts';
import type { Hashes } from './plan.ts';
import { projectFile } from './project.ts';

/** Files that are specific to a machine or may contain secrets. They are never transferred. `data` contains the
 *  persistent data of runs. */
const excludedNames = new Set([
  projectFile,
  `${projectFile}.new`,
  '.orchestrator',
  '.git',
  '.hg',
  '.svn',
  '.venv',
  'venv',
  '__pycache__',
  '.mypy_cache',
  '.pytest_cache',
  '.ruff_cache',
  '.idea',
  '.vscode',
  '.DS_Store',
  'node_modules',
]);
const secretFile = /^\.env(\..+)?$/;

/** Whether a path is synchronized. */
export function isSynchronized(path: string): boolean {
  const isExcluded = (name: string) =>
    excludedNames.has(name) || secretFile.test(name) || name.endsWith('.pyc');
  return !path.split('/').some(isExcluded) && path !== 'data' && !path.startsWith('data/');
}

/** Computes the SHA-256 of each file, by path. Symbolic links are skipped.
 *  @throws CommandProblem that lists every file that the service would refuse */
export async function hashFolder(folder: string): Promise<Hashes> {
  const result: Record<string, string> = {};
  const problems: string[] = [];
  for (const path of await pathsIn(folder, '')) {
    const { size } = await lstat(join(folder, path));
    const problem =
      size > maxFileBytes
        ? `it has ${size} bytes; the limit is ${maxFileBytes}`
        : pathProblem(path);
    if (problem !== undefined) problems.push(`${path}: ${problem}`);
    else result[path] = hashOf(await readFile(join(folder, path)));
  }
  if (problems.length > 0) {
    throw new CommandProblem(
      exitCodes.refused,
      `The platform does not accept these files; nothing was changed:\n${problems.join('\n')}`,
    );
  }
  return result;
}

export function hashOf(content: Uint8Array): string {
  return createHash('sha256').update(content).digest('hex');
}

async function pathsIn(root: string, below: string): Promise<readonly string[]> {
  const entries = await readdir(join(root, below), { withFileTypes: true }).catch(
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT' && below === '') return [];
      throw error;
    },
  );
  const found = entries.map(async (entry) => {
    const path = below === '' ? entry.name : `${below}/${entry.name}`;
    if (!isSynchronized(path)) return [];
    if (entry.isDirectory()) return await pathsIn(root, path);
    return entry.isFile() ? [path] : [];
  });
  return (await Promise.all(found)).flat();
}

/** Writes a file atomically, through a temporary file. @throws CommandProblem if the path points outside the folder */
export async function writeInFolder(
  folder: string,
  path: string,
  content: Uint8Array,
): Promise<void> {
  await refuseLinks(folder, path);
  const target = join(folder, path);
  await mkdir(dirname(target), { recursive: true });
  const temporary = `${target}.${process.pid}.new`;
  const file = await open(temporary, 'wx');
  try {
    await file.writeFile(content);
  } finally {
    await file.close();
  }
  await rename(temporary, target);
}

export async function removeFromFolder(folder: string, path: string): Promise<void> {
  await refuseLinks(folder, path);
  await rm(join(folder, path), { force: true });
}

async function refuseLinks(folder: string, path: string): Promise<void> {
  if (pathProblem(path) !== undefined) throw outside(path);
  const parts = path.split('/');
  for (let depth = 1; depth <= parts.length; depth += 1) {
    const found = await lstat(join(folder, ...parts.slice(0, depth))).catch(() => undefined);
    if (found?.isSymbolicLink() === true) throw outside(path);
  }
}

function outside(path: string): CommandProblem {
  return new CommandProblem(
    exitCodes.refused,
    `${path} is a symbolic link, or is inside a linked folder. Remove the link and try again.`,
  );
}
