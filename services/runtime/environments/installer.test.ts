import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readIndexSettings } from './index-settings.ts';
import { findInstaller } from './installer.ts';
import { askInterpreter } from './interpreter.ts';
import { python } from './testing/fixture.ts';

test('the error on a machine without pip and uv states how to install one of them', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'no-pip-'));
  const executable = join(folder, 'python3');
  // Simulates an interpreter without pip and without a bundled wheel.
  await writeFile(executable, '#!/bin/sh\necho "[]"\n', { mode: 0o755 });
  const interpreter = {
    ...(await askInterpreter(python.executable)),
    executable,
    version: '3.9.1',
  };
  await expect(findInstaller(interpreter, readIndexSettings({}), folder)).rejects.toThrow(
    `Python 3.9.1 (${executable}) has no pip 22.3 or newer, and uv is not on the PATH. ` +
      'Install one of them; on Debian and Ubuntu, run `apt-get install python3-pip`.',
  );
  await rm(folder, { recursive: true });
});

test("a version manager's shim is not used as uv", async () => {
  const folder = await mkdtemp(join(tmpdir(), 'shims-'));
  await writeFile(join(folder, 'uv'), '#!/bin/sh\necho uv 1.0.0\n', { mode: 0o755 });
  const interpreter = await askInterpreter(python.executable);
  const path = `${folder}:/usr/bin:/bin`;
  const installer = await findInstaller(interpreter, readIndexSettings({}), path);
  expect(installer.name).toMatch(/^pip /);
  await rm(folder, { recursive: true });
});
