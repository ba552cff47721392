/** Finds a script's imports in its text, without executing it or using Python to parse it. Pure. */
import { safeModules, takenNames } from './safe-modules.ts';

const importLine = /(?:^|;)[ \t]*import[ \t]+([^#;\n]+)/gm;
const fromLine = /(?:^|;)[ \t]*from[ \t]+([\w.]+)[ \t]+import[ \t]+([^#;\n]+)/gm;

/** Lists the standard library modules that a script imports and that may be preloaded, sorted. Text in a string may
 *  look like an import, but preloading an unnecessary module does no harm. */
export function safeImportsOf(texts: readonly string[]): readonly string[] {
  const names = new Set<string>();
  for (const text of texts) {
    for (const [, list = ''] of text.matchAll(importLine)) {
      for (const item of list.split(',')) add(names, item.trim().split(/\s/)[0] ?? '');
    }
    for (const [, module = '', list = ''] of text.matchAll(fromLine)) {
      add(names, module);
      // In `from concurrent import futures`, the imported name may also be a module.
      for (const item of list.split(/[,()]/)) add(names, `${module}.${item.trim().split(/\s/)[0]}`);
    }
  }
  return [...names].toSorted();
}

function add(names: Set<string>, name: string): void {
  if (safeModules.has(name)) names.add(name);
}

/** Whether one of the script's files could replace a standard library module that a warm interpreter has already
 *  imported. Files in packages cannot, because their module names begin with the package's name.
 *  @param paths the paths of all the script's files */
export function shadowsLibrary(paths: readonly string[]): boolean {
  const packages = new Set(
    paths.filter((path) => path.endsWith('/__init__.py')).map((path) => path.slice(0, -12)),
  );
  return paths.some((path) => {
    const parts = path.split('/');
    return parts.some((part, index) => {
      const folder = parts.slice(0, index).join('/');
      return !packages.has(folder) && takenNames.has(part.split('.')[0] ?? part);
    });
  });
}
