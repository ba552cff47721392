/** Rebuilds projection rows of an earlier version before the services start, because the services would reject them. */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { compileCache } from './programs/compiled.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const program = join(root, 'services', 'cli', 'main.ts');

/** Rebuilds outdated projections if the projection code has changed since the last start. The rebuild runs in a
 *  separate process to limit the memory of this process.
 *  @throws Error with the reason for a failure */
export async function rebuildOutdated(dataDir: string, say: (line: string) => void): Promise<void> {
  const mark = join(dataDir, 'cache', 'projections-by');
  const present = projectionsDigest();
  if (readMark(mark) === present) return;
  const child = spawn(process.execPath, [program, 'projections', 'rebuild', '--outdated'], {
    env: {
      PATH: process.env['PATH'],
      ORCH_DATA_DIR: dataDir,
      ...compileCache(dataDir),
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [result, problem, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'exit') as Promise<[number | null]>,
  ]);
  if (code !== 0) throw new Error(`The projections could not be rebuilt: ${problem.trim()}`);
  for (const line of result.split('\n').filter(Boolean)) say(`Rebuilt ${line}`);
  mkdirSync(dirname(mark), { recursive: true, mode: 0o700 });
  writeFileSync(mark, present);
}

function projectionsDigest(): string {
  const hash = createHash('sha256');
  const files = globSync('projections/**/*.ts', { cwd: root });
  for (const file of files.toSorted()) hash.update(readFileSync(join(root, file)));
  return hash.digest('hex');
}

function readMark(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined; // The file does not exist before the first start.
  }
}
