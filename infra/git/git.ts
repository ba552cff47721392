/** Reads a branch with the program `git`, without a working tree: nothing of a repository is ever executed or written as
 *  a file. Each read uses a new folder, which is removed afterwards. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { addressOf } from '#domain/repository/repository.ts';
import {
  GitProblem,
  type GitCommit,
  type GitRemote,
  type GitServer,
  type GitSnapshot,
} from '#domain/ports/git.ts';
import { TargetRefused, type Targets } from '#infra/outgoing/targets.ts';
import { runGit, type GitCall } from './process.ts';
import { readTree } from './tree.ts';

const ref = 'refs/heads/fetched';
const maxAnswerBytes = 64 * 1024;

type Connected = Pick<GitCall, 'folder' | 'config' | 'sshCommand' | 'signal'>;

export class Git implements GitServer {
  readonly #targets: Targets;

  constructor(targets: Targets) {
    this.#targets = targets;
  }

  async head(remote: GitRemote, signal: AbortSignal): Promise<string> {
    return await this.#connected(remote, signal, async (call) => {
      const args = ['ls-remote', '--quiet', '--', remote.url, `refs/heads/${remote.branch}`];
      const answer = await runGit(args, { ...call, maxOutputBytes: maxAnswerBytes });
      const [, hash] = /^([0-9a-f]{40}|[0-9a-f]{64})\t/.exec(answer.toString('utf8')) ?? [];
      if (hash === undefined) throw new GitProblem(`The branch "${remote.branch}" does not exist.`);
      return hash;
    });
  }

  async read(
    remote: GitRemote,
    isWanted: (path: string) => boolean,
    signal: AbortSignal,
  ): Promise<GitSnapshot> {
    return await this.#connected(remote, signal, async (call) => {
      const run = (args: readonly string[], maxOutputBytes = maxAnswerBytes, input = '') =>
        runGit(args, { ...call, maxOutputBytes, input });
      await run(['init', '--quiet', '--bare', '--template=', '.']);
      const branch = `+refs/heads/${remote.branch}:${ref}`;
      await run(['fetch', '--quiet', '--depth=1', '--no-tags', '--', remote.url, branch]);
      const commit = await describe(run);
      try {
        return { commit, files: await readTree(commit.hash, remote.folder, isWanted, run) };
      } catch (error) {
        if (!(error instanceof GitProblem)) throw error;
        return { commit, files: { problem: error.message } };
      }
    });
  }

  /** Prepares a folder, and the address and credential of the server. */
  async #connected<T>(
    remote: GitRemote,
    signal: AbortSignal,
    work: (call: Connected) => Promise<T>,
  ): Promise<T> {
    const folder = await mkdtemp(join(tmpdir(), 'orchestrator-git-'));
    try {
      return await work({ folder, signal, ...(await this.#route(remote, folder)) });
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }

  async #route(
    { url, access }: GitRemote,
    folder: string,
  ): Promise<Pick<GitCall, 'config' | 'sshCommand'>> {
    const target = addressOf(url);
    if (target === undefined) throw new GitProblem('The URL of the repository is not usable.');
    const { scheme, host } = target;
    const address = await this.#addressOf(host);
    if (scheme === 'ssh') {
      if (access?.kind !== 'ssh_key')
        throw new GitProblem('A repository with an SSH URL needs an SSH key.');
      return { sshCommand: await sshCommand(folder, access, host, address) };
    }
    if (access?.kind === 'ssh_key')
      throw new GitProblem('A repository with an HTTPS URL needs a token, not an SSH key.');
    const port = target.port ?? (scheme === 'https' ? 443 : 80);
    const shown = isIP(address) === 6 ? `[${address}]` : address;
    const basic = access && Buffer.from(`${access.username}:${access.token}`).toString('base64');
    return {
      config: {
        // Uses the checked address, because another lookup could return a different one.
        ...(isIP(host) === 0 && { 'http.curloptResolve': `${host}:${port}:${shown}` }),
        ...(basic && { [`http.${url}.extraHeader`]: `Authorization: Basic ${basic}` }),
      },
    };
  }

  async #addressOf(host: string): Promise<string> {
    try {
      return await this.#targets.addressOf(host);
    } catch (error) {
      if (error instanceof TargetRefused) throw new GitProblem(`${error.message}.`);
      throw new GitProblem(`The host ${host} cannot be resolved.`, { cause: error });
    }
  }
}

/** Host keys are checked against the given ones only. */
async function sshCommand(
  folder: string,
  { privateKey, knownHosts }: { readonly privateKey: string; readonly knownHosts: string },
  host: string,
  address: string,
): Promise<string> {
  const files = { key: join(folder, 'ssh-key'), hosts: join(folder, 'ssh-hosts') };
  await writeFile(files.key, `${privateKey.trim()}\n`, { mode: 0o600 });
  await writeFile(files.hosts, `${knownHosts.trim()}\n`, { mode: 0o600 });
  const options = [
    `IdentityFile=${files.key}`,
    'IdentitiesOnly=yes',
    'IdentityAgent=none',
    'BatchMode=yes',
    'StrictHostKeyChecking=yes',
    `UserKnownHostsFile=${files.hosts}`,
    'GlobalKnownHostsFile=/dev/null',
    'ForwardAgent=no',
    'PermitLocalCommand=no',
    'ConnectTimeout=20',
    // Connects to the checked address, but verifies the host key of the named host.
    `HostName=${address}`,
    `HostKeyAlias=${host}`,
  ];
  return `ssh -F /dev/null ${options.map((one) => `-o '${one}'`).join(' ')}`;
}

async function describe(run: (args: readonly string[]) => Promise<Buffer>): Promise<GitCommit> {
  const format = '--format=%H%x00%an%x00%ae%x00%cI%x00%s';
  const text = (await run(['log', '-1', '--no-show-signature', format, ref, '--'])).toString(
    'utf8',
  );
  const [hash = '', name = '', address = '', committedAt = '', subject = ''] = text
    .trim()
    .split('\0');
  if (!/^([0-9a-f]{40}|[0-9a-f]{64})$/.test(hash))
    throw new GitProblem('The commit of the branch cannot be read.');
  const time = new Date(committedAt);
  return {
    hash,
    author: `${plain(name, 100)} <${plain(address, 200)}>`,
    committedAt: Number.isNaN(time.getTime()) ? new Date(0).toISOString() : time.toISOString(),
    subject: plain(subject, 200),
  };
}

/** Names of authors are untrusted: only one line, without control and direction characters, is kept. */
function plain(text: string, maxLength: number): string {
  return text
    .replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\ufffd]/gu, ' ')
    .trim()
    .slice(0, maxLength)
    .toWellFormed();
}
