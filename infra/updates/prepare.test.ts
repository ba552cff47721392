import { execFileSync } from 'node:child_process';
import { mkdtemp, mkdir, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { prepareRelease } from './prepare.ts';

const signal = new AbortController().signal;
const lock = (version: string) =>
  JSON.stringify({
    version,
    packages: {
      '': { version },
      'node_modules/a': { version: '1.0.0' },
      'web/node_modules/b/node_modules/c': { version: '1.0.0' },
    },
  });

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'orch-prepare-'));
  await mkdir(join(folder, 'own/node_modules/a'), { recursive: true });
  await writeFile(join(folder, 'own/node_modules/a/index.js'), 'a package');
  await writeFile(join(folder, 'own/package-lock.json'), lock('0.1.13'));
  await mkdir(join(folder, 'own/web/node_modules/b'), { recursive: true });
  await writeFile(join(folder, 'own/web/node_modules/b/index.js'), 'a package of a part');
  await mkdir(join(folder, 'source/scripts'), { recursive: true });
  await mkdir(join(folder, 'source/web'));
  await writeFile(join(folder, 'source/package.json'), '{"version":"0.1.14"}');
  await writeFile(join(folder, 'source/package-lock.json'), lock('0.1.14'));
  await writeFile(join(folder, 'source/scripts/bootstrap.sh'), 'env > environment');
  pack();
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await rm(folder, { recursive: true });
});

function pack(): void {
  execFileSync('tar', ['-czf', join(folder, 'a.tar.gz'), '-C', join(folder, 'source'), '.']);
}

const prepare = (version: string) =>
  prepareRelease(
    {
      artifactPath: join(folder, 'a.tar.gz'),
      version,
      folder: join(folder, 'release'),
      ownFolder: join(folder, 'own'),
    },
    signal,
  );

test('a release is flushed to disk before its folder gets the final name', async () => {
  const [bin, note] = [join(folder, 'bin'), join(folder, 'note')];
  await mkdir(bin);
  const program = `#!/bin/sh\n{ echo "$1"; ls "$2"; [ ! -e '${folder}/release' ] && echo first; } > '${note}'\n`;
  await writeFile(join(bin, 'sync'), program, { mode: 0o755 });
  vi.stubEnv('PATH', `${bin}:${process.env['PATH']}`);
  await prepare('0.1.14');
  const lines = (await readFile(note, 'utf8')).trim().split('\n');
  expect([lines[0], lines.at(-1)]).toEqual(['--file-system', 'first']);
  expect(lines).toContain('package.json');
});

test('a release reuses identical packages, and its install programs get no secrets', async () => {
  vi.stubEnv('SECRET_MASTER_KEY', 'canary');
  await prepare('0.1.14');
  const packJson = join(folder, 'release');
  expect(await readFile(join(packJson, 'node_modules/a/index.js'), 'utf8')).toBe('a package');
  expect(await readFile(join(packJson, 'web/node_modules/b/index.js'), 'utf8')).toBe(
    'a package of a part',
  );
  expect(await readFile(join(packJson, 'environment'), 'utf8')).not.toContain('canary');
  // As after an interruption, the preparation starts again.
  await prepare('0.1.14');
  expect((await readdir(folder)).toSorted()).toEqual(['a.tar.gz', 'own', 'release', 'source']);
});

test('processes of an interrupted preparation do not affect the next preparation', async () => {
  const [begun, go] = [join(folder, 'begun'), join(folder, 'go')];
  await writeFile(
    join(folder, 'source/scripts/bootstrap.sh'),
    `[ -e '${begun}' ] || { touch '${begun}'; until [ -e '${go}' ]; do sleep 0.01; done; }`,
  );
  pack();
  const first = prepare('0.1.14');
  await vi.waitFor(() => readFile(begun), { timeout: 20_000 });
  await prepare('0.1.14');
  expect(await readdir(join(folder, 'release'))).toContain('package.json');
  await writeFile(go, '');
  await first;
  expect(await readdir(join(folder, 'release'))).toContain('package.json');
});

test('an artifact whose version differs from the declared version is refused', async () => {
  await expect(prepare('0.1.15')).rejects.toThrow('contains 0.1.14, not 0.1.15');
  expect(await readdir(folder)).not.toContain('release');
});
