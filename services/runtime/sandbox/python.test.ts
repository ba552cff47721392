import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startLocalSandbox } from './local-sandbox.ts';
import { findPython, PythonNotFound } from './python.ts';

const PATH = process.env['PATH'] ?? '';

describe('commands on the PATH', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'orch-python-'));
  });
  afterAll(() => rm(folder, { recursive: true }));

  async function command(name: string, script: string): Promise<string> {
    const path = join(folder, name);
    await writeFile(path, `#!/bin/sh\n${script}\n`);
    await chmod(path, 0o755);
    return path;
  }

  test('are resolved through a shim to an interpreter, its version and its required paths', async () => {
    const real = await findPython({ path: PATH });
    const shim = await command('shim', `exec ${real.executable} "$@"`);
    const found = await findPython({ configured: shim, path: '' });
    expect(found).toEqual(real);
    expect(found.version).toMatch(/^3\.\d+\.\d+$/);
    expect(found.prefixes.length).toBeGreaterThan(0);
  });

  test('are searched for the requested version, or else yield a list of the available versions', async () => {
    const real = await findPython({ path: PATH });
    const version = real.version.split('.').slice(0, 2).join('.');
    await command('python3', 'exit 1');
    await command(`python${version}`, `exec ${real.executable} "$@"`);
    expect(await findPython({ version, path: folder })).toEqual(real);
    expect(await findPython({ version: '3', path: folder })).toEqual(real);
    const missing = findPython({ version: '3.8', configured: real.executable, path: '' });
    await expect(missing).rejects.toThrow(`No Python 3.8 found (${real.executable}: is Python`);
  });

  test('cause an error that lists the attempts if no interpreter is found', async () => {
    await expect(findPython({ path: '/nowhere' })).rejects.toThrow(PythonNotFound);
    await expect(findPython({ path: '/nowhere' })).rejects.toThrow(
      'No Python 3.9 or newer found (no python3 on the PATH). Install Python (on Debian and Ubuntu, run `apt-get install python3 python3-pip`), or set ORCH_PYTHON to its path.',
    );
  });

  test('cause an error with the reason if an interpreter cannot start the launcher', async () => {
    const python = await command('broken', 'echo "no such library" >&2; exit 3');
    const onLog = (): void => undefined;
    const started = startLocalSandbox({ python, runsFolder: join(folder, 'runs'), onLog });
    await expect(started).rejects.toThrow('the launcher did not start (no such library)');
  });
});
