import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readIndexSettings } from './index-settings.ts';
import { findInstaller } from './installer.ts';
import { askInterpreter } from './interpreter.ts';
import { python } from './testing/fixture.ts';

test('the shim of a version manager is not taken for uv', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'shims-'));
  await writeFile(join(folder, 'uv'), '#!/bin/sh\necho uv 1.0.0\n', { mode: 0o755 });
  const interpreter = await askInterpreter(python.executable);
  const path = `${folder}:/usr/bin:/bin`;
  const installer = await findInstaller(interpreter, readIndexSettings({}), path);
  expect(installer.name).toMatch(/^pip /);
  await rm(folder, { recursive: true });
});
