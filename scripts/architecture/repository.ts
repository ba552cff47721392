import { readFileSync, readdirSync } from 'node:fs';
import { join, relative, sep } from 'node:path';

/** A source file in the repository. `path` is relative to the repository's root and uses `/`. */
export interface SourceFile {
  readonly path: string;
  readonly source: string;
}

// Folders that contain installed packages or build output.
const FOREIGN = new Set(['node_modules', 'build', 'dist', 'coverage']);

/** Reads the `.ts` and `.svelte` files below `root`, or the files that match `names`. Omits hidden files, installed
 *  packages and build output. */
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
