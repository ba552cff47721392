import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { Targets } from '#infra/outgoing/targets.ts';
import { publicKeyOf } from '#infra/updates/manifest.ts';
import { RepositoryUpdateProvider } from '#infra/updates/provider.ts';
import { repositoryAt } from '#infra/updates/source.ts';
import { gitProgram } from '#infra/git/testing/programs.ts';
import { describeWith } from './testing/optional-service.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';

const program = fileURLToPath(new URL('make-release.ts', import.meta.url));
let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'orch-release-'));
  mkdirSync(join(folder, 'source/web/build'), { recursive: true });
  writeFileSync(join(folder, 'source/package.json'), '{"version":"0.1.14"}');
  writeFileSync(join(folder, 'source/.gitignore'), 'web/build\nnotes\n');
  writeFileSync(join(folder, 'source/notes'), 'private');
  writeFileSync(join(folder, 'source/web/build/index.html'), 'built');
  const git = (...args: string[]) => execFileSync('git', args, { cwd: join(folder, 'source') });
  git('init', '-q');
  git('add', '.');
});
afterAll(() => rmSync(folder, { recursive: true }));

const run = (...args: string[]) =>
  execFileSync(process.execPath, [program, ...args], { encoding: 'utf8' });

describeWith(gitProgram, 'a release made by make-release', () => {
  test('can be found, downloaded and verified', async () => {
    const [key, repository] = [join(folder, 'key.pem'), join(folder, 'repository')];
    const publicKey = run('key', key).trim().replace('ORCH_UPDATE_KEY=', '');
    run('add', repository, '--key', key, '--folder', join(folder, 'source'), '--notes', 'Better.');
    const provider = new RepositoryUpdateProvider({
      read: repositoryAt(pathToFileURL(repository).href, new Targets([])),
      keys: [publicKeyOf(Buffer.from(publicKey, 'base64'))],
      clock: { now: () => new Date() },
    });
    expect(await provider.checkLatest()).toMatchObject({ version: '0.1.14', notes: 'Better.' });
    const path = await provider.download('0.1.14', folder);
    expect(await provider.verify(path)).toBe(true);
    const names = execFileSync('tar', ['-tzf', path], { encoding: 'utf8' });
    expect(names.trim().split('\n').toSorted()).toEqual([
      '.gitignore',
      'package.json',
      'web/build/',
      'web/build/index.html',
    ]);
    // Signing the release again extends its validity.
    const before = readFileSync(path);
    run('add', repository, '--key', key, '--folder', join(folder, 'source'), '--days', '500');
    expect(readFileSync(await provider.download('0.1.14', folder))).toEqual(before);
    expect(() =>
      run(
        'add',
        repository,
        '--key',
        key,
        '--folder',
        join(folder, 'source'),
        '--version',
        '9.9.9',
      ),
    ).toThrow(/has version 0.1.14/);
  });
});
