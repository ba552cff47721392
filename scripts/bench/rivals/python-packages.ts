/** Installs the rivals from PyPI, at the versions in requirements.txt. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const here = fileURLToPath(new URL('.', import.meta.url));

/** Installs the packages into the user's cache folder, once per version of the list.
 *  @returns the folder that contains the programs */
export function pythonPackages(): string {
  const cache = process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache');
  const folder = join(cache, 'script-orchestration-bench');
  const list = join(here, 'requirements.txt');
  const [wanted, done] = [readFileSync(list, 'utf8'), join(folder, 'installed')];
  const programs = join(folder, 'bin');
  if (existsSync(done) && readFileSync(done, 'utf8') === wanted) return programs;
  console.log(`Installing the rivals of ${list} into ${folder}`);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const run = (program: string, ...args: string[]) =>
    execFileSync(program, args, { stdio: ['ignore', 'ignore', 'inherit'] });
  run(process.env['ORCH_PYTHON'] ?? 'python3', '-m', 'venv', folder);
  run(join(programs, 'pip'), 'install', '--quiet', '-r', list);
  writeFileSync(done, wanted);
  return programs;
}
