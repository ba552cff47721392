import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';

/** The interpreter of an environment without packages, like the environment of a run, so that the benchmark measures
 *  neither the shim of a version manager nor globally installed packages. */
export const interpreter = emptyEnvironment();

function emptyEnvironment(): string {
  const folder = mkdtempSync(join(tmpdir(), 'bare-environment-'));
  const python = process.env['ORCH_PYTHON'] ?? 'python3';
  execFileSync(python, ['-m', 'venv', '--without-pip', folder]);
  return join(folder, 'bin', 'python');
}

/** A folder that contains `main.py`. */
export function bareScript(source: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'bare-'));
  writeFileSync(join(folder, 'main.py'), source);
  return folder;
}

/** Wall time of a bare `python3 main.py`, in milliseconds.
 *  @param python path of the interpreter; default: the interpreter of an empty environment */
export async function timeBare(folder: string, python = interpreter): Promise<number> {
  const startedAt = performance.now();
  const child = spawn(python, ['main.py'], { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] });
  child.stdout.resume();
  await once(child, 'close');
  return performance.now() - startedAt;
}
