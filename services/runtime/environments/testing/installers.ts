/** Finds the package installers for tests: pip, and uv if the machine has it. */
import { dirname } from 'node:path';
import { describe } from 'vitest';
import { describeWith } from '../../../../scripts/testing/optional-service.ts';
import { readIndexSettings } from '../index-settings.ts';
import { findInstaller } from '../installer.ts';
import { askInterpreter } from '../interpreter.ts';
import { python } from './fixture.ts';

/** Finds a `PATH` with uv: the machine's own, or the interpreter's folder if the machine's uv is a shim. */
export async function findUv(): Promise<{ found: string | undefined; reason: string }> {
  const interpreter = await askInterpreter(python.executable);
  for (const path of [process.env['PATH'] ?? '', dirname(interpreter.executable)]) {
    const { name } = await findInstaller(interpreter, readIndexSettings({}), path);
    if (name.startsWith('uv ')) return { found: path, reason: '' };
  }
  return { found: undefined, reason: 'it is not on the PATH' };
}

/** Runs the same tests with each installer. Without uv, its tests are skipped.
 *  @param body receives the installer, and a `PATH` that contains the installer */
export async function describeInstallers(
  name: string,
  body: (installer: 'pip' | 'uv', path: string) => void,
): Promise<void> {
  describe(`${name} pip`, () => body('pip', '/usr/bin:/bin'));
  const uv = await findUv();
  describeWith({ service: 'uv', ...uv }, `${name} uv`, () => body('uv', uv.found ?? ''));
}
