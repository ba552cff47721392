import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync } from 'node:fs';
import { mkdir, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { GitProblem, type GitAccess } from '#domain/ports/git.ts';
import { maxFileBytes } from '#domain/script/settings.ts';
import { Targets } from '#infra/outgoing/targets.ts';
import { gitProgram } from '#infra/git/testing/programs.ts';
import { describeWith } from '../../scripts/testing/optional-service.ts';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { Git } from './git.ts';
import { startGitServer, type TestGitServer, type TestRepository } from './testing/server.ts';

let server: TestGitServer;
const git = new Git(new Targets(['127.0.0.0/8']));
const { signal } = new AbortController();
const everything = () => true;

const ownFolder = mkdtempSync(join(tmpdir(), 'git-test-'));

beforeAll(async () => {
  // Other tests use the shared folder at the same time.
  vi.stubEnv('TMPDIR', ownFolder);
  server = await startGitServer();
});
afterAll(async () => {
  await server.close();
  vi.unstubAllEnvs();
  await rm(ownFolder, { recursive: true });
});

const remote = ({ url }: TestRepository, folder = '', access: GitAccess | null = null) => ({
  url,
  branch: 'main',
  folder,
  access,
});

async function textsOf(repository: TestRepository, folder = '') {
  const { files } = await git.read(remote(repository, folder), everything, signal);
  if ('problem' in files) return files.problem;
  return Object.fromEntries(
    files.map(({ path, content }) => [path, Buffer.from(content).toString('utf8')]),
  );
}

describeWith(gitProgram, 'a repository', () => {
  test('is read at the branch’s newest commit', async () => {
    const repository = await server.repository('plain');
    await repository.commit({ 'a.txt': 'one', 'deploy/b.txt': 'two', 'deploy/ä b.txt': '' });
    const hash = await repository.commit({ 'a.txt': 'three' }, 'Change a');
    expect(await git.head(remote(repository), signal)).toBe(hash);
    const { commit } = await git.read(remote(repository), everything, signal);
    expect(commit).toMatchObject({ hash, author: 'Ada <ada@example.com>', subject: 'Change a' });
    expect(await textsOf(repository)).toEqual({
      'a.txt': 'three',
      'deploy/b.txt': 'two',
      'deploy/ä b.txt': '',
    });
    expect(await textsOf(repository, 'deploy')).toEqual({ 'b.txt': 'two', 'ä b.txt': '' });
    expect(await textsOf(repository, 'missing')).toContain('"missing" does not exist');
  });

  test('leaves no temporary files behind after a read', async () => {
    const own = () => readdirSync(tmpdir()).filter((name) => name.startsWith('orchestrator-git-'));
    const before = own();
    await textsOf(await populated('temporary'));
    expect(own().filter((name) => !before.includes(name))).toEqual([]);
  });

  test('read by a killed process leaves a folder, which a later read removes', async () => {
    const [old, young] = ['old', 'young'].map((name) =>
      join(tmpdir(), `orchestrator-git-${name}-${process.pid}`),
    ) as [string, string];
    await Promise.all([mkdir(old), mkdir(young)]);
    await utimes(old, 0, 0);
    await textsOf(await populated('abandoned'));
    expect([existsSync(old), existsSync(young)]).toEqual([false, true]);
    await rm(young, { recursive: true });
  });

  test('that lacks the branch causes an error', async () => {
    const repository = await populated('branch');
    const other = { ...remote(repository), branch: 'other' };
    await expect(git.head(other, signal)).rejects.toThrow('"other" does not exist');
    const missing = new GitProblem('The branch "other" does not exist.');
    await expect(git.read(other, everything, signal)).rejects.toThrow(missing);
  });

  test('receives the token in a header, and no error contains the token', async () => {
    const repository = await populated('private');
    const access = { kind: 'token', username: 'git', token: 's3cret-token' } as const;
    server.authorization = `Basic ${Buffer.from('git:s3cret-token').toString('base64')}`;
    expect(await git.head(remote(repository, '', access), signal)).toMatch(/^[0-9a-f]{40}$/);
    const wrong = remote(repository, '', { ...access, token: 'other-s3cret' });
    const error: unknown = await git.head(wrong, signal).catch((one: unknown) => one);
    server.authorization = undefined;
    expect(error).toBeInstanceOf(GitProblem);
    expect(String(error)).not.toContain('s3cret');
  });
});

async function populated(name: string): Promise<TestRepository> {
  const repository = await server.repository(name);
  await repository.commit({ 'main.py': 'print(1)' });
  return repository;
}

describeWith(gitProgram, 'a hostile repository', () => {
  test('is refused if a script contains symbolic links', async () => {
    const repository = await populated('links');
    await symlink('/etc/passwd', join(repository.folder, 'passwd'));
    await repository.commit({});
    expect(await textsOf(repository)).toBe('"passwd" is a symbolic link. Use a file.');
    const { files } = await git.read(remote(repository), (path) => path === 'main.py', signal);
    expect(files).toHaveLength(1);
  });

  test('is refused if a script contains submodules', async () => {
    const repository = await populated('submodules');
    const target = `160000,${'1'.repeat(40)},lib`;
    await writeFile(
      join(repository.folder, '.gitmodules'),
      '[submodule "lib"]\n path = lib\n url = ext::sh -c "touch /tmp/owned-by-submodule"\n',
    );
    await repository.git('add', '.gitmodules');
    await repository.git('update-index', '--add', '--cacheinfo', target);
    await repository.git('commit', '-m', 'Add a submodule');
    await repository.git('push', '--quiet', 'origin', 'HEAD:main');
    expect(await textsOf(repository)).toBe('"lib" is a submodule. Use a folder with files.');
    expect(existsSync('/tmp/owned-by-submodule')).toBe(false);
  });

  test('runs no hooks, filters or configuration', async () => {
    const repository = await populated('hooks');
    const mark = join(tmpdir(), `owned-${process.pid}`);
    await mkdir(join(repository.folder, 'hooks'));
    await repository.commit({
      'hooks/post-checkout': `#!/bin/sh\ntouch ${mark}\n`,
      'hooks/reference-transaction': `#!/bin/sh\ntouch ${mark}\n`,
      config: `[core]\n fsmonitor = touch ${mark}\n sshCommand = touch ${mark}\n`,
      '.gitattributes': '* filter=evil diff=evil\n',
      '.gitconfig': `[filter "evil"]\n smudge = touch ${mark}\n`,
    });
    expect(await textsOf(repository)).toMatchObject({ 'main.py': 'print(1)' });
    expect(existsSync(mark)).toBe(false);
  });

  test('is refused if a file is too large', async () => {
    const repository = await populated('huge');
    await repository.commit({ 'huge.bin': '0'.repeat(maxFileBytes + 1) });
    expect(await textsOf(repository)).toContain('"huge.bin" is too large');
  });

  test('is read safely if file names look like options or contain line breaks', async () => {
    const repository = await populated('names');
    const blob = await repository.git('rev-parse', 'HEAD:main.py');
    const input = `100644 blob ${blob}\t-rf\0` + `100644 blob ${blob}\ta\nb\0`;
    const tree = execFileSync('git', ['mktree', '-z'], { cwd: repository.folder, input });
    const commit = await repository.git('commit-tree', tree.toString().trim(), '-m', 'Odd names');
    await repository.git('push', '--quiet', '--force', 'origin', `${commit}:main`);
    expect(await textsOf(repository)).toEqual({ '-rf': 'print(1)', 'a\nb': 'print(1)' });
  });

  test('is refused if it expands to too many files', async () => {
    const repository = await populated('bomb');
    let tree = await repository.git('rev-parse', 'HEAD^{tree}');
    for (let depth = 0; depth < 8; depth += 1) {
      const input = Array.from({ length: 10 }, (_, name) => `040000 tree ${tree}\t${name}\n`);
      tree = execFileSync('git', ['mktree'], { cwd: repository.folder, input: input.join('') })
        .toString()
        .trim();
    }
    const commit = await repository.git('commit-tree', tree, '-m', 'Bomb');
    await repository.git('push', '--quiet', '--force', 'origin', `${commit}:main`);
    expect(await textsOf(repository)).toMatch(/too many files|more than 10000 files/);
  });
});

describeWith(gitProgram, 'a change', () => {
  const author = { name: 'Grace <x>\nEvil: yes', email: 'grace@example.com>' };
  const at = new Date('2027-01-01T00:00:00Z');
  const write = (repository: TestRepository, files: Record<string, string | null>) => {
    const entries = Object.entries(files).map(([path, content]): [string, Buffer | null] => [
      path,
      content === null ? null : Buffer.from(content),
    ]);
    const change = { files: new Map(entries), author, at, message: 'Change\n' };
    const decide = () => Promise.resolve(change);
    return git.write(remote(repository), { branch: 'main', isWanted: everything, decide }, signal);
  };

  test('keeps file modes and unusual names', async () => {
    const repository = await populated('modes');
    await repository.git('update-index', '--chmod=+x', 'main.py');
    await repository.git('commit', '--quiet', '-m', 'Make it executable');
    await repository.git('push', '--quiet', 'origin', 'HEAD:main');
    const odd = 'a "b"\\c\nd/-x ä.py';
    const commit = await write(repository, { 'main.py': 'print(2)', [odd]: 'odd' });
    expect(commit.author).toBe('Grace x Evil: yes <grace@example.com>');
    expect(await textsOf(repository)).toEqual({ 'main.py': 'print(2)', [odd]: 'odd' });
    await repository.git('fetch', '--quiet', 'origin');
    expect(await repository.git('ls-tree', 'origin/main', 'main.py')).toMatch(/^100755 /);
  });

  test('can replace a file with a folder', async () => {
    const repository = await populated('replaced');
    await write(repository, { 'main.py/lib.py': 'x', 'main.py': null });
    expect(await textsOf(repository)).toEqual({ 'main.py/lib.py': 'x' });
  });

  test.each(['.git/hooks/post-checkout', 'a/.GIT/config'])(
    'is refused if it stores %s',
    async (path) => {
      const repository = await populated(`inner-${path.length}`);
      await expect(write(repository, { [path]: 'x' })).rejects.toThrow('Git cannot store the file');
    },
  );
});

describeWith(gitProgram, 'a server', () => {
  test('must have a permitted address', async () => {
    const strict = new Git(new Targets([]));
    const url = 'https://169.254.169.254/latest/meta-data';
    const metadata = { url, branch: 'main', folder: '', access: null };
    await expect(strict.head(metadata, signal)).rejects.toThrow(
      'does not resolve to a public address',
    );
  });

  test('cannot redirect to another address', async () => {
    const { createServer } = await import('node:http');
    const redirecting = createServer((_, response) =>
      response.writeHead(302, { Location: 'http://127.0.0.2:1/x.git/info/refs' }).end(),
    );
    await new Promise<void>((resolve) => redirecting.listen(0, '127.0.0.1', resolve));
    const address = redirecting.address();
    const port = typeof address === 'object' ? address?.port : undefined;
    const url = `http://127.0.0.1:${port}/x.git`;
    const target = { url, branch: 'main', folder: '', access: null };
    await expect(git.head(target, signal)).rejects.toThrow(/redirect|302/);
    redirecting.close();
  });

  test.each(['ext::sh -c id', 'file:///etc', '/etc', '--upload-pack=id'])(
    'is refused if its URL is %s',
    async (url) => {
      const target = { url, branch: 'main', folder: '', access: null };
      await expect(git.head(target, signal)).rejects.toThrow('is not valid');
    },
  );

  test('that sends an invalid response causes an error', async () => {
    const { createServer } = await import('node:http');
    const answers = [
      '',
      '\0'.repeat(70_000),
      '001e# service=git-upload-pack\n0000ffff',
      `001e# service=git-upload-pack\n0000${'003f'.padEnd(63, 'z')}\n0000`,
    ];
    const type = { 'Content-Type': 'application/x-git-upload-pack-advertisement' };
    const garbage = createServer((_, response) => response.writeHead(200, type).end(answers.pop()));
    await new Promise<void>((resolve) => garbage.listen(0, '127.0.0.1', resolve));
    const address = garbage.address();
    const port = typeof address === 'object' ? address?.port : undefined;
    const url = `http://127.0.0.1:${port}/x.git`;
    const target = { url, branch: 'main', folder: '', access: null };
    for (let left = answers.length; left > 0; left -= 1)
      await expect(git.head(target, signal)).rejects.toThrow(GitProblem);
    garbage.closeAllConnections();
    garbage.close();
  });

  test('that does not respond does not delay the shutdown of the platform', async () => {
    const { createServer } = await import('node:net');
    const silent = createServer(() => undefined);
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    const address = silent.address();
    const port = typeof address === 'object' ? address?.port : undefined;
    const stopping = new AbortController();
    const target = {
      url: `http://127.0.0.1:${port}/x.git`,
      branch: 'main',
      folder: '',
      access: null,
    };
    const asked = git.head(target, stopping.signal);
    silent.once('connection', () => stopping.abort());
    await expect(asked).rejects.toThrow('The platform is stopping.');
    silent.close();
  });
});
