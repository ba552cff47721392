/** Runs `git` in an isolated environment, without the machine's configuration, prompts or hooks. */
import { spawn } from 'node:child_process';
import { GitProblem } from '#domain/ports/git.ts';

const timeoutMs = 120_000;
/** Limits for each process: the size of a written file (in blocks of 512 bytes) and the address space (in KiB).
 *  `timeout` kills the process even if the backend was killed. */
const limits = 'ulimit -f 524288 && ulimit -v 4194304 && exec timeout --signal=KILL 150 git "$@"';
const maxErrorBytes = 4096;

/** Git configuration for one command, by name. It is passed in the environment, because all users can see arguments. */
export type GitConfig = Readonly<Record<string, string>>;

const safe: GitConfig = {
  'protocol.allow': 'never',
  'protocol.https.allow': 'always',
  // URLs with this protocol are accepted only for loopback addresses (`repositoryUrlProblem`).
  'protocol.http.allow': 'always',
  'protocol.ssh.allow': 'always',
  // A redirect could point to a forbidden address.
  'http.followRedirects': 'false',
  'http.lowSpeedLimit': '1000',
  'http.lowSpeedTime': '30',
  'credential.helper': '',
  'core.hooksPath': '/dev/null',
  'core.attributesFile': '/dev/null',
  'core.fsmonitor': 'false',
  // Large blobs are streamed instead of being held in memory.
  'core.bigFileThreshold': '1m',
  'fetch.recurseSubmodules': 'false',
  // Stores the fetched objects as one pack, whose size is limited, instead of many files.
  'fetch.unpackLimit': '1',
  'transfer.bundleURI': 'false',
  'gc.auto': '0',
  'maintenance.auto': 'false',
};

export interface GitCall {
  /** The folder of the repository, and the home directory of the process. */
  readonly folder: string;
  readonly config?: GitConfig;
  /** The value of `GIT_SSH_COMMAND`. */
  readonly sshCommand?: string | undefined;
  readonly input?: string | Uint8Array;
  readonly maxOutputBytes: number;
  readonly signal: AbortSignal;
}

/** Runs git in one repository. @returns the standard output */
export type Run = (
  args: readonly string[],
  maxOutputBytes?: number,
  input?: string | Uint8Array,
) => Promise<Buffer>;

/** @returns the standard output
 *  @throws GitProblem if git fails, times out, or writes too much output */
export async function runGit(args: readonly string[], call: GitCall): Promise<Buffer> {
  const child = spawn('/bin/sh', ['-c', limits, 'git', ...args], {
    cwd: call.folder,
    env: environmentOf(call),
    // Git gets its own process group, so that its helper processes can be killed together with it.
    detached: true,
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  let stopped: string | undefined;
  const stop = (why: string) => {
    stopped ??= why;
    try {
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
    } catch {
      // The process group has already exited.
    }
  };
  const timer = setTimeout(
    () => stop(`git did not finish within ${timeoutMs / 1000} seconds.`),
    timeoutMs,
  );
  const abort = () => stop('The platform is stopping.');
  call.signal.addEventListener('abort', abort, { once: true });
  if (call.signal.aborted) abort();
  const chunks: Buffer[] = [];
  let bytes = 0;
  child.stdout.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > call.maxOutputBytes) stop('The repository has too many files.');
    else chunks.push(chunk);
  });
  let errors = '';
  child.stderr.on('data', (chunk: Buffer) => {
    if (errors.length < maxErrorBytes) errors += chunk.toString('utf8');
  });
  // The process may exit before reading all of its input.
  child.stdin.on('error', () => undefined);
  child.stdin.end(call.input ?? '');
  try {
    const code = await new Promise<number | NodeJS.Signals | null>((resolve, reject) => {
      child.once('error', reject);
      child.once('close', (exitCode, signal) => resolve(exitCode ?? signal));
    });
    if (stopped !== undefined) throw new GitProblem(stopped);
    if (code !== 0) throw new GitProblem(messageOf(errors, code));
    return Buffer.concat(chunks);
  } catch (error) {
    if (error instanceof GitProblem) throw error;
    throw new GitProblem("git could not be started. Install git on the backend's machine.", {
      cause: error,
    });
  } finally {
    clearTimeout(timer);
    call.signal.removeEventListener('abort', abort);
    stop('done');
  }
}

function environmentOf({ folder, config = {}, sshCommand }: GitCall): NodeJS.ProcessEnv {
  const entries = Object.entries({ ...safe, ...config });
  return {
    PATH: process.env['PATH'],
    HOME: folder,
    LC_ALL: 'C.UTF-8',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_TERMINAL_PROMPT: '0',
    GIT_ASKPASS: '',
    SSH_ASKPASS: '',
    GIT_ATTR_NOSYSTEM: '1',
    GIT_NO_REPLACE_OBJECTS: '1',
    GIT_SSH_VARIANT: 'ssh',
    ...(sshCommand !== undefined && { GIT_SSH_COMMAND: sshCommand }),
    GIT_CONFIG_COUNT: String(entries.length),
    ...Object.fromEntries(
      entries.flatMap(([name, value], index) => [
        [`GIT_CONFIG_KEY_${index}`, name],
        [`GIT_CONFIG_VALUE_${index}`, value],
      ]),
    ),
  };
}

/** Returns the last line, which contains the reason. Earlier lines contain progress messages and hints. */
function messageOf(errors: string, code: number | string | null): string {
  const lines = errors
    .split('\n')
    .map((line) => line.replaceAll(/\p{Cc}/gu, ' ').trim())
    .filter((line) => line !== '');
  const fatal = lines.filter((line) => /^(fatal|error|remote):|permission denied/i.test(line));
  const text = (fatal.length > 0 ? fatal : lines).slice(-2).join(' ').slice(0, 500);
  if (/host key verification failed|no matching host key/i.test(errors))
    return (
      "The server's host key is not one of the given host keys. " +
      "Compare the given keys with the server's, then correct the credential."
    );
  if (/could not read (username|password)|authentication failed|permission denied \(/i.test(errors))
    return 'The server refused the credential, or requires one. Enter a credential that can access the repository.';
  const [, branch] = /couldn't find remote ref (?:refs\/heads\/)?(\S+)/i.exec(errors) ?? [];
  if (branch !== undefined) return `The branch "${branch}" does not exist.`;
  if (code === 'SIGXFSZ' || /file too large/i.test(errors))
    return 'The repository is too large: its newest commit may have at most 256 MiB.';
  return text === '' ? `git failed (${code}).` : `git failed: ${text}`;
}
