/** Reads and changes a branch with the `git` program. There is no working tree, so nothing from a repository is ever
 *  executed or written as a file. Each operation uses a temporary folder. */
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
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
  type GitWrite,
} from '#domain/ports/git.ts';
import { TargetRefused, type Targets } from '#infra/outgoing/targets.ts';
import { createCommit, maxMessages, recentMessages } from './commit.ts';
import { runGit, type GitCall, type Run } from './process.ts';
import { sshCommand } from './ssh.ts';
import { plain } from './text.ts';
import { readTree } from './tree.ts';

const ref = 'refs/heads/fetched';
const pushed = 'refs/heads/pushed';
const maxAnswerBytes = 64 * 1024;
const maxListBytes = 16 * 1024 * 1024;
const prefix = 'orchestrator-git-';
const abandonedAfterMs = 60 * 60_000;
/** The maximum number of push attempts when other clients push at the same time. */
const maxPushes = 5;

type Connected = Pick<GitCall, 'folder' | 'config' | 'sshCommand' | 'signal'>;

export class Git implements GitServer {
  readonly #targets: Targets;

  constructor(targets: Targets) {
    this.#targets = targets;
  }

  async head(remote: GitRemote, signal: AbortSignal): Promise<string> {
    return await this.#connected(remote, signal, async (call) => {
      const hash = await headOf(runIn(call), remote.url, remote.branch);
      if (hash === undefined) throw new GitProblem(`The branch "${remote.branch}" does not exist.`);
      return hash;
    });
  }

  async read(
    remote: GitRemote,
    isWanted: (path: string) => boolean,
    signal: AbortSignal,
    previous?: string,
  ): Promise<GitSnapshot & { readonly isRewritten: boolean }> {
    return await this.#connected(remote, signal, async (call) => {
      const run = runIn(call);
      await run(['init', '--quiet', '--bare', '--template=', '.']);
      const snapshot = await snapshotOf(run, remote, remote.branch, isWanted);
      const isRewritten = previous !== undefined && !(await hasCommit(run, remote, previous));
      return { ...snapshot, isRewritten };
    });
  }

  async write(
    remote: GitRemote,
    { branch, isWanted, decide }: GitWrite,
    signal: AbortSignal,
  ): Promise<GitCommit> {
    return await this.#connected(remote, signal, async (call) => {
      const run = runIn(call);
      await run(['init', '--quiet', '--bare', '--template=', '.']);
      for (let attempt = 1; ; attempt += 1) {
        const head = await headOf(run, remote.url, branch);
        const from = head === undefined ? remote.branch : branch;
        const snapshot = await snapshotOf(run, remote, from, isWanted);
        const messages = async () => {
          await fetchBranch(run, remote.url, from, maxMessages);
          return await recentMessages(run, ref);
        };
        const change = await decide(snapshot, messages);
        if (change === undefined) return snapshot.commit;
        const commit = await createCommit(run, snapshot.commit.hash, remote.folder, change, pushed);
        const refspec = `${commit}:refs/heads/${branch}`;
        try {
          await run(['push', '--quiet', '--no-verify', '--', remote.url, refspec]);
          return await describe(run, pushed);
        } catch (error) {
          // Either the server's reply was lost, or another client pushed first.
          const now = await headOf(run, remote.url, branch);
          if (now === commit) return await describe(run, pushed);
          if (now === head || attempt === maxPushes) throw error;
        }
      }
    });
  }

  /** Prepares a temporary folder, and the server's address and credentials. */
  async #connected<T>(
    remote: GitRemote,
    signal: AbortSignal,
    work: (call: Connected) => Promise<T>,
  ): Promise<T> {
    await removeAbandoned();
    const folder = await mkdtemp(join(tmpdir(), prefix));
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
    if (target === undefined) throw new GitProblem('The URL of the repository is not valid.');
    const { scheme, host } = target;
    const address = await this.#addressOf(host);
    if (scheme === 'ssh') {
      if (access?.kind !== 'ssh_key')
        throw new GitProblem('A repository with an SSH URL needs an SSH key.');
      return { sshCommand: await sshCommand(folder, access, target, address) };
    }
    if (access?.kind === 'ssh_key')
      throw new GitProblem('A repository with an HTTPS URL needs a token, not an SSH key.');
    const port = target.port ?? (scheme === 'https' ? 443 : 80);
    const shown = isIP(address) === 6 ? `[${address}]` : address;
    const basic = access && Buffer.from(`${access.username}:${access.token}`).toString('base64');
    return {
      config: {
        // Connects to the checked address, because another DNS lookup could return a different one.
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

/** Removes leftover folders of killed processes, because they may contain keys. */
async function removeAbandoned(): Promise<void> {
  const names = (await readdir(tmpdir())).filter((name) => name.startsWith(prefix));
  for (const path of names.map((name) => join(tmpdir(), name))) {
    try {
      if (Date.now() - (await stat(path)).mtimeMs > abandonedAfterMs)
        await rm(path, { recursive: true, force: true });
    } catch {
      // Another process has removed the folder, or the folder belongs to another user.
    }
  }
}

const runIn =
  (call: Connected): Run =>
  (args, maxOutputBytes = maxAnswerBytes, input = '') =>
    runGit(args, { ...call, maxOutputBytes, input });

async function headOf(run: Run, url: string, branch: string): Promise<string | undefined> {
  const answer = await run(['ls-remote', '--quiet', '--', url, `refs/heads/${branch}`]);
  return /^([0-9a-f]{40}|[0-9a-f]{64})\t/.exec(answer.toString('utf8'))?.[1];
}

async function fetchBranch(run: Run, url: string, branch: string, depth: number): Promise<void> {
  const refspec = `+refs/heads/${branch}:${ref}`;
  await run(['fetch', '--quiet', `--depth=${depth}`, '--no-tags', '--', url, refspec]);
}

/** Whether the fetched commits contain the hash. */
async function hasCommit(run: Run, { url, branch }: GitRemote, hash: string): Promise<boolean> {
  const raw = (await run(['cat-file', 'commit', ref])).toString('utf8');
  const [head] = raw.split('\n\n');
  const newest = (await run(['rev-parse', '--verify', ref])).toString('utf8').trim();
  // Usually only one commit was pushed since the last sync. Checking the commit's parents avoids another download.
  if (newest === hash || head?.split('\n').includes(`parent ${hash}`) === true) return true;
  try {
    await fetchBranch(run, url, branch, maxMessages);
  } catch (error) {
    // The older commits may be too large to fetch. A sync needs only the newest commit.
    if (error instanceof GitProblem) return true;
    throw error;
  }
  const list = (await run(['rev-list', ref, '--'], maxListBytes)).toString('utf8');
  return list.split('\n').includes(hash);
}

async function snapshotOf(
  run: Run,
  { url, folder }: GitRemote,
  branch: string,
  isWanted: (path: string) => boolean,
): Promise<GitSnapshot> {
  await fetchBranch(run, url, branch, 1);
  const commit = await describe(run, ref);
  try {
    return { commit, files: await readTree(commit.hash, folder, isWanted, run) };
  } catch (error) {
    if (!(error instanceof GitProblem)) throw error;
    return { commit, files: { problem: error.message } };
  }
}

async function describe(run: Run, of: string): Promise<GitCommit> {
  const format = '--format=%H%x00%an%x00%ae%x00%cI%x00%s';
  const text = (await run(['log', '-1', '--no-show-signature', format, of, '--'])).toString('utf8');
  const [hash = '', name = '', address = '', committedAt = '', subject = ''] = text
    .trim()
    .split('\0');
  if (!/^([0-9a-f]{40}|[0-9a-f]{64})$/.test(hash))
    throw new GitProblem('The newest commit on the branch cannot be read.');
  const time = new Date(committedAt);
  return {
    hash,
    author: `${plain(name, 100)} <${plain(address, 200)}>`,
    committedAt: Number.isNaN(time.getTime()) ? new Date(0).toISOString() : time.toISOString(),
    subject: plain(subject, 200),
  };
}
