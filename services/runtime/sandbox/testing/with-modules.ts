/** Executes fixtures outside the sandbox, with the sandbox's Python modules. */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { findPython } from '../python.ts';

/** Executes a fixture.
 *  @returns the JSON value that the fixture prints */
export async function answerOf(fixture: string, ...args: readonly string[]): Promise<unknown> {
  const python = await findPython({ configured: undefined, path: process.env['PATH'] ?? '' });
  const path = fileURLToPath(new URL(`../fixtures/${fixture}`, import.meta.url));
  const { stdout } = await promisify(execFile)(python.executable, [path, ...args], {
    env: { PYTHONPATH: fileURLToPath(new URL('../../python', import.meta.url)) },
  });
  return JSON.parse(stdout);
}
