/** The Python package `orchestrator`: where it is, and how interpreters find it. */
import { randomUUID } from 'node:crypto';
import { closeSync, constants, openSync, readSync } from 'node:fs';
import { readdir, realpath, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Holds the package and nothing else. */
export const sdkFolder = fileURLToPath(new URL('../python/sdk', import.meta.url));

const name = 'orchestrator-platform.pth';
const content = `${sdkFolder}\n`;

/** Lets the interpreters of environments find the package, behind a script's own modules and its
 *  packages: also of those that were made before, or by a platform that lay elsewhere. */
export class PackagePaths {
  /** The files that do it, by environment. */
  readonly #files = new Map<string, readonly string[]>();

  async ensure(environmentFolder: string): Promise<void> {
    // An environment may have been removed and made again meanwhile.
    const known = this.#files.get(environmentFolder) ?? [];
    if (known.length > 0 && known.every(hasContent)) return;
    const files = await filesOf(environmentFolder);
    for (const file of files) if (!hasContent(file)) await write(file);
    this.#files.set(environmentFolder, files);
  }
}

async function filesOf(environmentFolder: string): Promise<readonly string[]> {
  const folder = await realpath(environmentFolder);
  const libraries = await readdir(join(folder, 'lib'));
  const files: string[] = [];
  for (const library of libraries.filter((one) => one.startsWith('python'))) {
    const packages = join(folder, 'lib', library, 'site-packages');
    // A build runs foreign code; what it may have led elsewhere is not followed, and what it put beside the library
    // has no packages.
    const real = await realpath(packages).catch(() => undefined);
    if (real === packages) files.push(join(packages, name));
  }
  return files;
}

/** A tiny file, at each start of a run: waiting for a thread would take longer than reading it. */
function hasContent(file: string): boolean {
  const found = Buffer.alloc(Buffer.byteLength(content) + 1);
  try {
    // A build runs foreign code: a link that it made could lead to what never ends.
    const descriptor = openSync(file, constants.O_RDONLY | constants.O_NOFOLLOW);
    try {
      return found.toString('utf8', 0, readSync(descriptor, found)) === content;
    } finally {
      closeSync(descriptor);
    }
  } catch {
    return false;
  }
}

/** In one step: a run may be reading it, and another one writing it too. */
async function write(file: string): Promise<void> {
  const made = `${file}.${randomUUID()}`;
  await writeFile(made, content, { mode: 0o644 });
  await rename(made, file);
}
