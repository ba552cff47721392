/** The Python package `orchestrator`: where it is, and how interpreters find it. */
import { readdir, readFile, realpath, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Holds the package and nothing else. */
export const sdkFolder = fileURLToPath(new URL('../python/sdk', import.meta.url));

const name = 'orchestrator-platform.pth';

/** Lets the interpreters of an environment find the package, behind the script's own modules and its
 *  packages. Done anew for environments that were made before, or by a platform that lay elsewhere. */
export async function makeImportable(environmentFolder: string): Promise<void> {
  const libraries = await readdir(join(environmentFolder, 'lib'));
  for (const library of libraries.filter((one) => one.startsWith('python'))) {
    const packages = join(environmentFolder, 'lib', library, 'site-packages');
    const own = join(await realpath(environmentFolder), 'lib', library, 'site-packages');
    // A build runs foreign code; what it may have led elsewhere is not followed.
    if ((await realpath(packages)) === own) await writeOnce(join(packages, name), `${sdkFolder}\n`);
  }
}

async function writeOnce(path: string, content: string): Promise<void> {
  const present = await readFile(path, 'utf8').catch(() => undefined);
  if (present === content) return;
  // In one step: a run may be reading it.
  const made = `${path}.${process.pid}`;
  await writeFile(made, content, { mode: 0o644 });
  await rename(made, path);
}
