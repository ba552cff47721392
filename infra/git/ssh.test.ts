import { readdirSync, readFileSync } from 'node:fs';
import { Targets } from '#infra/outgoing/targets.ts';
import { sshProgram } from '#infra/git/testing/programs.ts';
import { describeWith } from '../../scripts/testing/optional-service.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Git } from './git.ts';
import { startGitServer, type TestGitServer, type TestRepository } from './testing/server.ts';
import { startSshServer, type TestSshServer } from './testing/ssh-server.ts';

let server: TestGitServer;
let ssh: TestSshServer;
let repository: TestRepository;
let hash: string;
const git = new Git(new Targets(['127.0.0.0/8']));
const { signal } = new AbortController();

beforeAll(async () => {
  [server, ssh] = await Promise.all([startGitServer(), startSshServer()]);
  repository = await server.repository('ssh');
  hash = await repository.commit({ 'main.py': 'print(1)' });
});
afterAll(() => Promise.all([server.close(), ssh.close()]));

function remote(changes: { privateKey?: string; knownHosts?: string } = {}) {
  const { privateKey, knownHosts } = ssh;
  const access = { kind: 'ssh_key', privateKey, knownHosts, ...changes } as const;
  return { url: `${ssh.origin}${repository.bare}`, branch: 'main', folder: '', access };
}

describeWith(sshProgram, 'a repository behind sshd', () => {
  test('is read and written with a deploy key', async () => {
    expect(await git.head(remote(), signal)).toBe(hash);
    const { files } = await git.read(remote(), () => true, signal);
    expect(files).toMatchObject([{ path: 'main.py' }]);
    const change = {
      files: new Map([['main.py', Buffer.from('print(2)')]]),
      author: { name: 'Grace', email: 'grace@example.com' },
      at: new Date('2027-01-01T00:00:00Z'),
      message: 'Change main.py\n',
    };
    const decide = () => Promise.resolve(change);
    const write = { branch: 'changes', isWanted: () => true, decide };
    const commit = await git.write(remote(), write, signal);
    expect(commit.author).toBe('Grace <grace@example.com>');
    expect(await git.head({ ...remote(), branch: 'changes' }, signal)).toBe(commit.hash);
  });

  test('is refused if the server has a different host key', async () => {
    const other = remote({ knownHosts: ssh.otherHosts });
    await expect(git.head(other, signal)).rejects.toThrow("The server's host key is not one");
    const none = remote({
      knownHosts: `other.example.com ${ssh.knownHosts.split(' ').slice(1).join(' ')}`,
    });
    await expect(git.head(none, signal)).rejects.toThrow("The server's host key is not one");
  });

  test('is refused with a key that has a passphrase or is not an SSH key', async () => {
    const encrypted = remote({ privateKey: ssh.encryptedKey });
    await expect(git.head(encrypted, signal)).rejects.toThrow('The private key has a passphrase.');
    const unreadable = remote({ privateKey: 'not a key' });
    await expect(git.head(unreadable, signal)).rejects.toThrow('is not an SSH key');
  });

  test('is read with a key that has Windows line endings', async () => {
    const windows = remote({ privateKey: ssh.privateKey.replaceAll('\n', '\r\n') });
    expect(await git.head(windows, signal)).toBe(hash);
  });

  test('is read without the key in the arguments or environment of any process', async () => {
    const seen = new Set<string>();
    const watch = setInterval(() => collectProcesses(seen), 20);
    await git.head(remote(), signal);
    clearInterval(watch);
    const all = [...seen].join('\n');
    expect(all).toContain('ssh-key');
    const secret = ssh.privateKey.split('\n')[2] ?? '';
    expect(secret.length).toBeGreaterThan(20);
    expect(all).not.toContain(secret);
  });
});

/** Adds the arguments and environments of all current processes. */
function collectProcesses(seen: Set<string>): void {
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    for (const file of ['cmdline', 'environ']) {
      try {
        seen.add(readFileSync(`/proc/${pid}/${file}`, 'latin1'));
      } catch {
        // The process has exited in the meantime.
      }
    }
  }
}
