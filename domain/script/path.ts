/** Validates paths of script files (contract §3, "Files"). */
import { nameProblem } from '#domain/kernel/names.ts';

const maxPathBytes = 255;

/** Describes the problem with a file path. Returns `undefined` if the path is valid. A valid path is relative and
 *  has at most 255 bytes. No segment may be empty, `.` or `..`, or contain NUL, a control character or a backslash. */
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

/** Describes the problem with an entry point. Returns `undefined` if the entry point is valid. */
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

/** Extensions of Python source files and of archives that Python can execute (PEP 441). */
const executable = ['.py', '.pyz'];

/** Describes the problem with the path of a new file. Returns `undefined` if the path is valid. Paths of existing
 *  files are checked only by `pathProblem`. */
export function newPathProblem(path: string): string | undefined {
  const problem = pathProblem(path);
  if (problem !== undefined) return problem;
  const unusable = nameProblem(path);
  return unusable === undefined ? undefined : `the path ${unusable}`;
}

// Runs store their own data in `data/`, which would hide a script file with the same path.
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
