/** A real `sshd` for tests, on a loopback address. It accepts a single key and runs only Git's programs. */
import { execFile, spawn } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const execute = promisify(execFile);

export interface TestSshServer {
  /** The URL without a repository path, such as `ssh://root@127.0.0.1:2222`. */
  readonly origin: string;
  /** The accepted private key. */
  readonly privateKey: string;
  /** The accepted key, encrypted with a passphrase. */
  readonly encryptedKey: string;
  /** The host key in the format that `ssh-keyscan` prints. */
  readonly knownHosts: string;
  /** The host key of another server, listed for the same address. */
  readonly otherHosts: string;
  close(): Promise<void>;
}

export async function startSshServer(): Promise<TestSshServer> {
  const folder = await mkdtemp(join(tmpdir(), 'ssh-server-'));
  const at = (name: string) => join(folder, name);
  const newKey = async (name: string, passphrase = '') => {
    const options = ['-q', '-t', 'ed25519', '-N', passphrase, '-C', name, '-f', at(name)];
    await execute('ssh-keygen', options);
  };
  await Promise.all(['host', 'other', 'user'].map((name) => newKey(name)));
  const privateKey = await readFile(at('user'), 'utf8');
  await execute('cp', [at('user'), at('encrypted')]);
  await execute('ssh-keygen', ['-q', '-p', '-P', '', '-N', 'passphrase', '-f', at('encrypted')]);
  await writeFile(
    at('config'),
    [
      `HostKey ${at('host')}`,
      `AuthorizedKeysFile ${at('user.pub')}`,
      'StrictModes no',
      'UsePAM no',
      'PasswordAuthentication no',
      'PermitRootLogin prohibit-password',
      'ForceCommand git-shell -c "$SSH_ORIGINAL_COMMAND"',
      'PidFile none',
      '',
    ].join('\n'),
  );
  const { username, uid } = userInfo();
  // The privilege separation process of sshd requires this folder.
  if (uid === 0) await mkdir('/run/sshd', { recursive: true });
  // Connections start paused, because only sshd may read from them.
  const server = createServer({ pauseOnConnect: true }, (socket) => {
    const args = ['-i', '-e', '-f', at('config')];
    spawn('/usr/sbin/sshd', args, { stdio: [socket, socket, 'ignore'] });
    socket.destroy();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const hostLine = async (name: string) =>
    `[127.0.0.1]:${port} ${(await readFile(at(`${name}.pub`), 'utf8')).trim()}\n`;
  return {
    origin: `ssh://${username}@127.0.0.1:${port}`,
    privateKey,
    encryptedKey: await readFile(at('encrypted'), 'utf8'),
    knownHosts: await hostLine('host'),
    otherHosts: await hostLine('other'),
    close: async () => {
      await new Promise((resolve) => server.close(resolve));
      await rm(folder, { recursive: true, force: true });
    },
  };
}
