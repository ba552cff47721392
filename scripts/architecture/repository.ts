import { readFileSync, readdirSync } from 'node:fs';
import { join, relative, sep } from 'node:path';

/** A source file of the repository: `path` is relative to its root and uses `/`. */
export interface SourceFile {
  readonly path: string;
  readonly source: string;
}

// Installed or built, never written by hand.
const FOREIGN = new Set(['node_modules', 'build', 'dist', 'coverage']);

/** Reads every .ts and .svelte file under `root`, without what is installed, built or hidden. */
export function sourceFiles(root: string): SourceFile[] {
  return [...paths(root)].map((path) => ({
    path: relative(root, path).replaceAll(sep, '/'),
    source: readFileSync(path, 'utf8'),
  }));
}

function* paths(folder: string): Generator<string> {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory() && !entry.name.startsWith('.') && !FOREIGN.has(entry.name)) {
      yield* paths(path);
    }
    if (entry.isFile() && /\.(?:[cm]?ts|svelte)$/u.test(entry.name)) yield path;
  }
}
