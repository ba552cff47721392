import { readFileSync, readdirSync } from 'node:fs';
import { join, relative, sep } from 'node:path';

/** A source file of the repository: `path` is relative to its root and uses `/`. */
export interface SourceFile {
  readonly path: string;
  readonly source: string;
}

// Installed or built folders.
const FOREIGN = new Set(['node_modules', 'build', 'dist', 'coverage']);

/** Reads every .ts and .svelte file under `root`, or the files that `names` matches, without installed, built or hidden
 *  files. */
export function sourceFiles(root: string, names = /\.(?:[cm]?ts|svelte)$/u): SourceFile[] {
  return [...paths(root, names)].map((path) => ({
    path: relative(root, path).replaceAll(sep, '/'),
    source: readFileSync(path, 'utf8'),
  }));
}

function* paths(folder: string, names: RegExp): Generator<string> {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory() && !entry.name.startsWith('.') && !FOREIGN.has(entry.name)) {
      yield* paths(path, names);
    }
    if (entry.isFile() && names.test(entry.name)) yield path;
  }
}
