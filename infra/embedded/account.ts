/** Selects the account that runs the database server, because PostgreSQL refuses to run as root. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

export interface Account {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
}

/** Returns the account for the server: `postgres` or, if that account does not exist, `nobody`. Returns undefined if
 *  this process does not run as root; the server then uses this process's account.
 *  @throws Error if this process runs as root and neither account exists */
export function serverAccount(): Account | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const accounts = readFileSync('/etc/passwd', 'utf8').split('\n').map(parseAccount);
  for (const name of ['postgres', 'nobody']) {
    const found = accounts.find((account) => account?.name === name && account.uid !== 0);
    if (found !== undefined) return found;
  }
  throw new Error('PostgreSQL cannot run as root, and there is no user "postgres" or "nobody"');
}

function parseAccount(line: string): Account | undefined {
  const [name, , uid, gid] = line.split(':');
  if (name === undefined || uid === undefined || gid === undefined) return undefined;
  return { name, uid: Number(uid), gid: Number(gid) };
}

/** Returns spawn options that run a child process as `account`. The child starts in a folder that every user can enter,
 *  and does not inherit this process's environment. */
export function runAs(account: Account | undefined): {
  cwd: string;
  env: Record<string, string>;
  uid?: number;
  gid?: number;
} {
  const env = { PATH: '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' };
  if (account === undefined) return { cwd: '/', env };
  return { cwd: '/', env, uid: account.uid, gid: account.gid };
}

/** Runs a shell test with the rights of `account`, with `path` as `$1`.
 *  @returns whether the test succeeds */
export function passesAs(account: Account | undefined, test: string, path: string): boolean {
  const { status } = spawnSync('/bin/sh', ['-c', test, 'sh', path], {
    ...runAs(account),
    stdio: 'ignore',
  });
  return status === 0;
}
