/** The server's process: its arguments, and how its readiness is detected. */
import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { openLogFile } from '#infra/system/log-file.ts';
import { withConnection } from '#infra/postgres/await-database.ts';
import { isDatabaseAway } from '#infra/postgres/database-away.ts';
import { runAs, type Account } from './account.ts';
import { stopServer } from './stop-server.ts';

const START_PATIENCE_MS = 60_000;
const POLL_MS = 15;
/** The program that kills the server's process when this process is killed; part of util-linux. */
const SETPRIV = '/usr/bin/setpriv';
/** The memory limit of one session, without shared memory. A query that needs more fails. Without the limit, the
 *  kernel would kill a session, and Postgres would end all sessions. */
const MAX_SESSION_KIB = 512 * 1024;

export interface ServerOptions {
  readonly binaries: string;
  readonly data: string;
  readonly sockets: string;
  readonly account: Account | undefined;
  readonly durable: boolean;
  readonly logFile: string;
  /** The URL that a superuser connects to. Used to check whether the server responds. */
  readonly maintenanceUrl: string;
}

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface ServerProcess {
  readonly pid: number;
  /** Settles when the process has ended, for any reason. */
  readonly exited: Promise<Exit>;
  /** Idempotent, even after the end. */
  stop(): Promise<void>;
}

/** Starts the server and waits until it responds.
 *  @throws Error if the server ends instead */
export async function startServer(options: ServerOptions): Promise<ServerProcess> {
  const server = spawnServer(options);
  let exit: Exit | undefined;
  void server.exited.then((ended) => (exit = ended));
  const deadline = performance.now() + START_PATIENCE_MS;
  while (!saysReady(options.data, server.pid) || !(await answers(options.maintenanceUrl))) {
    if (exit !== undefined)
      throw new Error(`PostgreSQL exited during startup; see ${options.logFile}`);
    if (performance.now() > deadline) {
      await server.stop();
      throw new Error(`PostgreSQL does not respond; see ${options.logFile}`);
    }
    await wait(POLL_MS);
  }
  return server;
}

function spawnServer(options: ServerOptions): ServerProcess {
  const [command, ...args] = commandLine(options);
  const { env, ...account } = runAs(options.account);
  const child = spawn(command, args, {
    ...account,
    env: { ...env, ...memory },
    stdio: ['ignore', 'pipe', 'pipe'],
    // Ctrl-C goes to every process of the terminal's group, and the database must end last.
    detached: true,
  });
  keepLog(child, options.logFile);
  let alive = true;
  const exited = endOf(child).finally(() => (alive = false));
  return {
    pid: child.pid ?? -1,
    exited,
    async stop() {
      if (alive && child.pid !== undefined) await stopServer(child.pid, () => alive);
      await exited;
    },
  };
}

/** This process writes the log, so that the file never exceeds its limit. */
function keepLog(child: ChildProcess, path: string): void {
  const file = openLogFile(path);
  child.stdout?.on('data', (bytes: Buffer) => file.append(bytes));
  child.stderr?.on('data', (bytes: Buffer) => file.append(bytes));
  child.once('close', () => file.close());
}

function endOf(child: ChildProcess): Promise<Exit> {
  return new Promise((resolve) => {
    child.once('exit', (code, signal) => resolve({ code, signal }));
    child.once('error', () => resolve({ code: null, signal: null }));
  });
}

function commandLine(options: ServerOptions): [string, ...string[]] {
  const server = [join(options.binaries, 'bin/postgres'), '-D', options.data];
  for (const [name, value] of Object.entries(settings(options))) server.push(`--${name}=${value}`);
  // On SIGTERM, the server waits for its sessions to end. On SIGQUIT, it does not.
  const farewell = options.durable ? 'TERM' : 'QUIT';
  if (existsSync(SETPRIV)) server.unshift(SETPRIV, `--pdeathsig=${farewell}`);
  return ['/bin/sh', '-c', `ulimit -d ${MAX_SESSION_KIB} && exec "$@"`, 'sh', ...server];
}

/** Keeps the memory of a statement for the next one. Otherwise the C library returns memory at the end of the heap each
 *  time, and the next statement allocates it again, page by page. */
const memory = {
  MALLOC_TRIM_THRESHOLD_: String(4 * 1024 * 1024),
  MALLOC_MMAP_THRESHOLD_: String(1024 * 1024),
};

/** For a small machine: little memory, few processes, and never a network port. */
function settings(options: ServerOptions): Record<string, string> {
  return {
    listen_addresses: '',
    unix_socket_directories: options.sockets,
    unix_socket_permissions: '0700',
    port: '5432',
    max_connections: '60',
    shared_buffers: '64MB',
    maintenance_work_mem: '32MB',
    io_method: 'sync', // no I/O worker processes
    max_worker_processes: '4',
    max_parallel_workers: '2',
    wal_level: 'minimal',
    max_wal_senders: '0',
    max_logical_replication_workers: '0',
    max_wal_size: '512MB',
    checkpoint_timeout: '15min',
    jit: 'off',
    // A transaction that stays open would block every reader of the event store.
    idle_in_transaction_session_timeout: '60s',
    timezone: 'UTC',
    log_timezone: 'UTC',
    log_line_prefix: '%m [%p] ',
    log_checkpoints: 'off',
    ...(options.durable ? {} : WITHOUT_DURABILITY),
  };
}

const WITHOUT_DURABILITY = {
  fsync: 'off',
  full_page_writes: 'off',
  synchronous_commit: 'off',
  max_connections: '200',
};

/** The server writes its process ID and state into a file. Connection attempts before the server is ready would fill
 *  its log, so the file is read instead. */
function saysReady(data: string, pid: number): boolean {
  try {
    const lines = readFileSync(join(data, 'postmaster.pid'), 'utf8').split('\n');
    return lines[0] === String(pid) && lines[7]?.startsWith('ready') === true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
}

/** @throws Error when the server responds, but permanently refuses the connection */
async function answers(url: string): Promise<boolean> {
  try {
    await withConnection(url, () => Promise.resolve());
    return true;
  } catch (error) {
    if (!isDatabaseAway(error)) throw error;
    return false;
  }
}
