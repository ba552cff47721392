import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';

/**
 * The interpreter of an empty environment, like a run's environment. The benchmark therefore excludes version manager
 * shims and globally installed packages.
 */
export const interpreter = emptyEnvironment();

function emptyEnvironment(): string {
  const folder = mkdtempSync(join(tmpdir(), 'bare-environment-'));
  const python = process.env['ORCH_PYTHON'] ?? 'python3';
  execFileSync(python, ['-m', 'venv', '--without-pip', folder]);
  return join(folder, 'bin', 'python');
}

/** Creates a folder that contains `main.py` with this source.
 *  @returns the path of the folder */
export function bareScript(source: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'bare-'));
  writeFileSync(join(folder, 'main.py'), source);
  return folder;
}

/** Measures the wall time of `python3 main.py` without the product, in milliseconds.
 *  @param python the path of the interpreter. Default: the interpreter of an empty environment */
export async function timeBare(folder: string, python = interpreter): Promise<number> {
  const startedAt = performance.now();
  const child = spawn(python, ['main.py'], { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] });
  child.stdout.resume();
  await once(child, 'close');
  return performance.now() - startedAt;
}
