/** Makes the `orchestrator` Python package available to interpreters. */
import { randomUUID } from 'node:crypto';
import { closeSync, constants, openSync, readSync } from 'node:fs';
import { readdir, realpath, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder that is added to an interpreter's path. It contains only the package and its hook. */
export const sdkFolder = fileURLToPath(new URL('../python/sdk', import.meta.url));

const name = 'orchestrator-platform.pth';
/** The second line also installs the hook for uncaught exceptions in the main process of a run. */
const content = `${sdkFolder}
import os; "ORCH_REPORT_ERRORS" in os.environ and __import__("_orchestrator_hook").install()
`;

/**
 * Adds the package to environments with path files. Interpreters search for the package after the script's own modules
 * and packages. This also works for existing environments, even if a platform in another folder created them.
 */
export class PackagePaths {
  /** The path files of each environment. */
  readonly #files = new Map<string, readonly string[]>();

  async ensure(environmentFolder: string): Promise<void> {
    // Checks the files again, because an environment may have been removed and rebuilt in the meantime.
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
    // Does not follow links, because a build runs untrusted code. Folders that a build has added next to the library
    // are ignored.
    const real = await realpath(packages).catch(() => undefined);
    if (real === packages) files.push(join(packages, name));
  }
  return files;
}

/** A synchronous read of this tiny file is faster than waiting for a thread. */
function hasContent(file: string): boolean {
  const found = Buffer.alloc(Buffer.byteLength(content) + 1);
  try {
    // Does not follow a link, because a build runs untrusted code and could have created a link to an endless file.
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

/** Writes atomically, because another run may be reading or writing the file. */
async function write(file: string): Promise<void> {
  const made = `${file}.${randomUUID()}`;
  await writeFile(made, content, { mode: 0o644 });
  await rename(made, file);
}
