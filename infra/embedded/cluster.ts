/** Creates the database cluster's files and the passwords of its two users at the first start. */
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  chownSync,
  existsSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { runAs, type Account } from './account.ts';

/** The schema owner, used only for migrations. */
export const ADMIN_USER = 'orch_admin';
/** The database user of the services. */
export const SERVICE_USER = 'orch_service';
export const DATABASE = 'orchestrator';

/** Stored with the caller's other secrets (mode 0600), so the server's account cannot read it. */
export interface ClusterRecord {
  /** `.` means the folder that contains this record. */
  readonly home: string;
  readonly sockets: string;
  readonly adminPassword: string;
  readonly servicePassword: string;
}

/** Reads the record in `directory`.
 *  @returns undefined before the first start */
export function readRecord(directory: string): ClusterRecord | undefined {
  const file = recordFile(directory);
  if (!existsSync(file)) return undefined;
  return JSON.parse(readFileSync(file, 'utf8')) as ClusterRecord;
}

export function writeRecord(directory: string, record: ClusterRecord): void {
  const file = recordFile(directory);
  writeFileSync(`${file}.new`, `${JSON.stringify(record, null, 2)}\n`, {
    mode: 0o600,
    flush: true,
  });
  renameSync(`${file}.new`, file);
}

function recordFile(directory: string): string {
  return join(directory, 'cluster.json');
}

export function newPassword(): string {
  return randomBytes(24).toString('base64url');
}

/** @throws Error if `data` contains a cluster but its passwords are unknown */
export function refuseForeign(data: string): void {
  if (!existsSync(join(data, 'PG_VERSION'))) return;
  throw new Error(`${data} holds a database, but cluster.json with its passwords is missing`);
}

export interface ClusterOptions {
  readonly binaries: string;
  readonly data: string;
  readonly account: Account | undefined;
  readonly adminPassword: string;
  /** Whether to flush files to disk. */
  readonly durable: boolean;
}

/** Creates the cluster if it does not exist, and recreates an incomplete one.
 *  @throws Error with the output of initdb */
export async function initialiseCluster(options: ClusterOptions): Promise<void> {
  const { data, account } = options;
  if (existsSync(join(data, 'PG_VERSION')) && !existsSync(unfinished(data))) return;
  for (const name of readdirSync(data)) rmSync(join(data, name), { recursive: true });
  const passwordFile = `${data}.password`;
  writeFileSync(unfinished(data), '');
  writeFileSync(passwordFile, options.adminPassword, { mode: 0o600 });
  if (account !== undefined) chownSync(passwordFile, account.uid, account.gid);
  try {
    await runInitdb(options, passwordFile);
    rmSync(unfinished(data));
  } finally {
    rmSync(passwordFile, { force: true });
  }
}

function unfinished(data: string): string {
  return `${data}.unfinished`;
}

function runInitdb(options: ClusterOptions, passwordFile: string): Promise<void> {
  const args = ['--pgdata', options.data, '--username', ADMIN_USER, '--pwfile', passwordFile];
  args.push('--auth-local', 'scram-sha-256', '--auth-host', 'reject', '--data-checksums');
  args.push('--encoding', 'UTF8', '--locale', 'C');
  args.push('--locale-provider', 'builtin', '--builtin-locale', 'C.UTF-8');
  if (!options.durable) args.push('--no-sync');
  return new Promise((resolve, reject) => {
    const child = spawn(join(options.binaries, 'bin/initdb'), args, {
      ...runAs(options.account),
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    const collect = (chunk: Buffer): void => void (output += chunk.toString());
    child.stdout.on('data', collect);
    child.stderr.on('data', collect);
    child.on('error', (cause) => reject(new Error('initdb could not be started', { cause })));
    child.on('close', (code) => {
      if (code === 0) resolve();
      else reject(new Error(`initdb failed (${code}):\n${output.trim()}`));
    });
  });
}
