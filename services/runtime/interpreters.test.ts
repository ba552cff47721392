import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Interpreters } from './interpreters.ts';

const usual = { executable: '/opt/python3.11', version: '3.11.7', prefixes: ['/opt'] };

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'orch-interpreters-'));
  await program('python3.12', '3.12.4');
  await program('python3', '3.12.4');
  await writeFile(join(folder, 'python3.13'), '#!/bin/sh\nexit 1\n', { mode: 0o755 });
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Creates an executable that reports this Python version. */
async function program(name: string, version: string, place = folder): Promise<void> {
  const answer = JSON.stringify({
    executable: `/usr/bin/python-${version}`,
    version: version.split('.').map(Number),
    prefixes: ['/usr'],
  });
  await mkdir(place, { recursive: true });
  await writeFile(join(place, name), `#!/bin/sh\necho '${answer}'\n`, { mode: 0o755 });
}

describe('a runtime with Python 3.11 as the default and 3.12 on the PATH', () => {
  const interpreters = () => new Interpreters(usual, { PATH: folder });

  test.each([null, '3', '3.11', '3.11.7'])(
    'uses the default for the requested version %s',
    async (one) => {
      expect(await interpreters().of(one)).toBe(usual);
    },
  );

  test('finds 3.12 on the PATH when a script requests it', async () => {
    expect(await interpreters().of('3.12')).toMatchObject({ version: '3.12.4' });
  });

  test.each(['3.1', '3.13', '3.9'])(
    'lists the available versions when %s is requested',
    async (one) => {
      expect(await interpreters().of(one)).toBe(
        `The script requires Python ${one}, but this runtime has 3.11.7, 3.12.4. ` +
          `Install it on the runtime's machine, for example with \`uv python install ${one}\`.`,
      );
    },
  );
});

describe('an interpreter from a version manager', () => {
  test.each([
    ['pyenv', '.pyenv/versions', {}],
    ['pyenv in another folder', 'own/versions', { PYENV_ROOT: 'own' }],
    ['asdf', '.asdf/installs/python', {}],
    ['asdf in another folder', 'own-asdf/installs/python', { ASDF_DATA_DIR: 'own-asdf' }],
    ['mise', '.local/share/mise/installs/python', {}],
    ['mise in another folder', 'own-mise/installs/python', { MISE_DATA_DIR: 'own-mise' }],
    ['uv', '.local/share/uv/python', {}],
    ['uv in another folder', 'own-uv', { UV_PYTHON_INSTALL_DIR: 'own-uv' }],
    ['all of them in one data folder', 'data/uv/python', { XDG_DATA_HOME: 'data' }],
  ])('is found with %s when a script requests its version', async (name, place, variables) => {
    const home = join(folder, `home of ${name}`);
    const placed = Object.entries(variables).map(([key, path]) => [key, join(home, path)]);
    const environment = { PATH: folder, HOME: home, ...Object.fromEntries(placed) };
    const interpreters = new Interpreters(usual, environment);
    expect(await interpreters.of('3.10')).toMatch(/this runtime has 3\.11\.7, 3\.12\.4\./);

    await program('python3', '3.9.1', join(home, place, '3.9.1/bin'));
    await program('python3', '3.10.2', join(home, place, '3.10.2/bin'));
    await program('python3', '3.10.14', join(home, place, '3.10.14/bin'));
    // The newest patch version is found without a restart.
    expect(await interpreters.of('3.10')).toMatchObject({ version: '3.10.14' });
    expect(await interpreters.of('3.9')).toMatchObject({ version: '3.9.1' });
    expect(await interpreters.of('3.8')).toMatch(
      /has 3\.11\.7, 3\.12\.4, 3\.10\.14, 3\.10\.2, 3\.9\.1\./,
    );
  });

  test('is found in the folder that uv reports', async () => {
    const [tools, place] = [join(folder, 'tools'), join(folder, 'pythons of uv')];
    await program('python3', '3.14.0', join(place, 'cpython-3.14.0-linux/bin'));
    await mkdir(tools);
    const uv = `#!/bin/sh\n[ "$*" = "python dir" ] && echo '${place}'\n`;
    await writeFile(join(tools, 'uv'), uv, { mode: 0o755 });
    const interpreters = new Interpreters(usual, { PATH: `${tools}:${folder}`, HOME: folder });
    expect(await interpreters.of('3.14')).toMatchObject({ version: '3.14.0' });
  });
});
