/** A row of the file list: a folder heading or a file. */
export interface TreeRow {
  kind: 'folder' | 'file';
  name: string;
  path: string;
  depth: number;
}

/** Returns the rows of the indented file list: folders first, then the entry point, then the other files by name. */
export function treeRows(paths: readonly string[], entrypoint: string): TreeRow[] {
  const rows: TreeRow[] = [];
  addFolder(rows, [...paths], '', 0, entrypoint);
  return rows;
}

function addFolder(
  rows: TreeRow[],
  paths: string[],
  prefix: string,
  depth: number,
  entrypoint: string,
): void {
  const inside = paths.filter((path) => path.startsWith(prefix));
  const files = inside.filter((path) => !path.slice(prefix.length).includes('/'));
  const folders = new Set(
    inside
      .map((path) => path.slice(prefix.length))
      .filter((rest) => rest.includes('/'))
      .map((rest) => rest.slice(0, rest.indexOf('/'))),
  );
  for (const name of [...folders].sort()) {
    const path = `${prefix}${name}/`;
    rows.push({ kind: 'folder', name, path, depth });
    addFolder(rows, inside, path, depth + 1, entrypoint);
  }
  for (const path of files.sort((a, b) =>
    order(a, entrypoint).localeCompare(order(b, entrypoint)),
  )) {
    rows.push({ kind: 'file', name: path.slice(prefix.length), path, depth });
  }
}

function order(path: string, entrypoint: string): string {
  return path === entrypoint ? '' : path;
}

/** Explains why `path` is not a valid file path; returns null if it is valid. The server validates the path again. */
export function pathProblem(path: string, taken: readonly string[]): string | null {
  if (path === '') return 'Enter a file name.';
  if (new TextEncoder().encode(path).length > 255) return 'Paths are limited to 255 bytes.';
  if (/[\\\0]/.test(path)) return 'Use forward slashes (/), not backslashes.';
  if (path.split('/').some((part) => part === '' || part === '.' || part === '..')) {
    return 'Enter a relative path without empty, “.” or “..” segments.';
  }
  return taken.includes(path) ? 'A file with this name already exists.' : null;
}
