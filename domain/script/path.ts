/** Paths of script files (contract §3, "Files"). */
import { nameProblem } from '#domain/kernel/names.ts';

const maxPathBytes = 255;

/** Describes why `path` cannot name a file; `undefined` if it can. A path is relative, has at most 255 bytes, and
 *  has no part that is empty, `.`, `..`, or contains NUL, a control character or a backslash. */
export function pathProblem(path: string): string | undefined {
  if (path === '') return 'the path is empty';
  if (new TextEncoder().encode(path).length > maxPathBytes) {
    return `the path is longer than ${maxPathBytes} bytes`;
  }
  if (path.startsWith('/')) return 'the path is absolute';
  if (path.includes('\\')) return 'the path contains a backslash';
  if (hasControlCharacter(path)) return 'the path contains a control character';
  if (!path.isWellFormed()) return 'the path is not valid Unicode';
  for (const part of path.split('/')) {
    if (part === '') return 'the path has an empty segment';
    if (part === '.' || part === '..') return `the path has a segment "${part}"`;
  }
  return reservedProblem(path);
}

/** Describes why `path` cannot be the entry point; `undefined` if it can. */
export function entrypointProblem(path: string): string | undefined {
  // Python would parse the path as an option.
  if (path.startsWith('-')) return 'the path of an entry point cannot begin with "-"';
  const problem = pathProblem(path);
  if (problem !== undefined) return problem;
  if (executable.some((suffix) => path.endsWith(suffix))) return undefined;
  return (
    'it must be a Python file whose name ends with ".py" or ".pyz"; convert other formats, such as ' +
    'notebooks, first'
  );
}

/** A Python source file, or an archive that Python executes (PEP 441). */
const executable = ['.py', '.pyz'];

/** Describes why `path` cannot name a new file; `undefined` if it can. Existing names are checked by `pathProblem`
 *  only. */
export function newPathProblem(path: string): string | undefined {
  const problem = pathProblem(path);
  if (problem !== undefined) return problem;
  const unusable = nameProblem(path);
  return unusable === undefined ? undefined : `the path ${unusable}`;
}

// Runs keep their own data in `data/`, which would hide a file of the script.
function reservedProblem(path: string): string | undefined {
  return path === 'data' || path.startsWith('data/')
    ? 'the folder "data" is reserved for runs'
    : undefined;
}

function hasControlCharacter(path: string): boolean {
  for (let index = 0; index < path.length; index += 1) {
    const code = path.charCodeAt(index);
    if (code < 0x20 || code === 0x7f) return true;
  }
  return false;
}
