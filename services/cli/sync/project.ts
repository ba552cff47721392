/** A folder with the files of one script, and the state of both sides at the last sync. */
import { readFile, rename, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { CommandProblem, exitCodes } from '../problem.ts';

/** The file that makes a folder a project. It contains no secret and can be committed with the files. */
export const projectFile = '.orchestrator.json';

export interface Project {
  readonly server: string;
  readonly script_id: string;
  readonly script_name: string;
  /** SHA-256 of each file, by its path, at the last sync. */
  readonly base: Readonly<Record<string, string>>;
}

/** @returns undefined if the folder is not a project */
export async function readProject(folder: string): Promise<Project | undefined> {
  const path = join(folder, projectFile);
  try {
    const project = JSON.parse(await readFile(path, 'utf8')) as Project;
    if (typeof project.script_id === 'string' && typeof project.base === 'object') return project;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    if (!(error instanceof SyntaxError)) throw error;
  }
  throw new CommandProblem(
    exitCodes.configuration,
    `${path} cannot be read. Delete it and pull again: orchestrator sync pull SCRIPT`,
  );
}

/** Finds the project that contains the folder `from`.
 *  @throws CommandProblem if there is no such project */
export async function findProject(
  from: string,
): Promise<{ readonly folder: string; readonly project: Project }> {
  for (let folder = from; ; folder = dirname(folder)) {
    const project = await readProject(folder);
    if (project !== undefined) return { folder, project };
    if (folder === dirname(folder)) break;
  }
  throw new CommandProblem(
    exitCodes.notFound,
    `${from} is not in a script's folder (no ${projectFile} here or above). Start with: orchestrator ` +
      'sync pull SCRIPT',
  );
}

export async function writeProject(folder: string, project: Project): Promise<void> {
  const path = join(folder, projectFile);
  await writeFile(`${path}.new`, `${JSON.stringify(project, undefined, 2)}\n`);
  await rename(`${path}.new`, path);
}
