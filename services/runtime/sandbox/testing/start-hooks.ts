/** Files that make an interpreter execute code when it starts. They cover all names that CPython's getpath,
 *  initconfig and site look up, in each environment folder that an installer can write to. */
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { buffer } from 'node:stream/consumers';
import { dirname, join } from 'node:path';
import { ZipFile } from 'yazl';

// The module folders of an installation, for each tested Python release.
const LIBRARIES = [
  '.',
  'Lib',
  ...[9, 10, 11, 12, 13, 14, 15, 16].map((minor) => `lib/python3.${minor}`),
];

// Modules that an interpreter imports before or in `site`, and modules that a keeper imports.
const MODULES =
  'encodings codecs io abc zipimport _bootlocale site os stat posixpath genericpath _collections_abc ' +
  '_sitebuiltins importlib runpy sitecustomize usercustomize warnings types enum functools re ' +
  'keeper sandbox json ctypes struct socket signal marshal typing';

/** Lists the files.
 *  @param library such as `python3.12` */
export function startHooks(library: string): readonly string[] {
  const digits = library.replaceAll(/[^\d]/g, '');
  const pathFiles = ['python', 'python3', library, `python${digits}`].map((name) => `${name}._pth`);
  const settings = ['pyvenv.cfg', 'pybuilddir.txt', 'Modules/Setup.local', 'build-details.json'];
  const startFiles = ['trap.pth', 'boot.start', `python${digits}.zip`];
  const modules = MODULES.split(' ').flatMap((name) => [`${name}.py`, `${name}/__init__.py`]);
  const names = [...pathFiles, ...settings, ...startFiles, ...modules];
  const packages = `lib/${library}/site-packages`;
  const folders = ['.', 'bin', 'lib', `lib/${library}`, packages, `lib/${library}/lib-dynload`];
  const files = [...folders, 'include', 'share'].flatMap((folder) =>
    names.map((name) => join(folder, name)),
  );
  return [...files, ...['python', 'python3', library].map((name) => join('bin', name))];
}

/** Adds a hook to an environment, and replaces existing files. When the hook is executed, it creates the file
 *  `mark`. Some hooks redirect the interpreter to modules in the folder `lure`. */
export async function plant(
  environment: string,
  hook: string,
  { mark, lure }: { readonly mark: string; readonly lure: string },
): Promise<void> {
  const source = `import posix\n${makes(mark)}\n`;
  const path = join(environment, hook);
  await rm(path, { force: true, recursive: true });
  if (/\._pth$|pybuilddir\.txt$|pyvenv\.cfg$|\.json$/.test(hook)) {
    for (const name of ['encodings/__init__.py', 'os.py', 'site.py']) {
      for (const place of LIBRARIES) await write(join(lure, place, name), source);
    }
  }
  if (hook.endsWith('._pth') || hook.endsWith('pybuilddir.txt')) await write(path, `${lure}\n`);
  else if (hook.endsWith('pyvenv.cfg')) await write(path, `home = ${join(lure, 'bin')}\n`);
  else if (hook.endsWith('.json')) await write(path, JSON.stringify({ base_prefix: lure }));
  else if (hook.endsWith('.pth')) await write(path, `import posix; ${makes(mark)}\n`);
  else if (hook.endsWith('.start')) {
    await write(path, 'started_module:run\n');
    await write(join(dirname(path), 'started_module.py'), source);
  } else if (hook.endsWith('.zip')) await write(path, await zipOf('encodings/__init__.py', source));
  else if (hook.endsWith('.py')) await write(path, source);
  else if (hook.endsWith('Setup.local')) await write(path, '');
  else await writeFile(path, `#!/bin/sh\n: > '${mark}'\n`, { mode: 0o755 });
}

function makes(mark: string): string {
  return `posix.close(posix.open(${JSON.stringify(mark)}, posix.O_CREAT | posix.O_WRONLY))`;
}

async function zipOf(name: string, content: string): Promise<Buffer> {
  const zip = new ZipFile();
  zip.addBuffer(Buffer.from(content), name);
  zip.end();
  return await buffer(zip.outputStream);
}

async function write(path: string, content: string | Buffer): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, content);
}
