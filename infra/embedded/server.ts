/** Starts the server process with its arguments, and detects when the server is ready. */
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
/** A program from util-linux that kills the server process when this process is killed. */
const SETPRIV = '/usr/bin/setpriv';
/** The memory limit of each session, without shared memory. A query that exceeds the limit fails. Without the limit,
 *  the kernel would kill a session, and Postgres would then end all other sessions. */
const MAX_SESSION_KIB = 512 * 1024;

export interface ServerOptions {
  readonly binaries: string;
  readonly data: string;
  readonly sockets: string;
  readonly account: Account | undefined;
  readonly durable: boolean;
  readonly logFile: string;
  /** A superuser's URL, used to check whether the server responds. */
  readonly maintenanceUrl: string;
}

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface ServerProcess {
  readonly pid: number;
  /** Resolves when the process has exited, for any reason. */
  readonly exited: Promise<Exit>;
  /** Idempotent. Can be called after the process has exited. */
  stop(): Promise<void>;
}

/** Starts the server and waits until it responds.
 *  @throws Error if the server exits before it responds */
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
    // Detached, because Ctrl-C signals the whole process group, but the database must stop last.
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

/** Writes the server's output to the log from this process, so that the file never exceeds its size limit. */
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
  // On SIGTERM, the server waits until all sessions have closed. On SIGQUIT, it exits immediately.
  const farewell = options.durable ? 'TERM' : 'QUIT';
  if (existsSync(SETPRIV)) server.unshift(SETPRIV, `--pdeathsig=${farewell}`);
  return ['/bin/sh', '-c', `ulimit -d ${MAX_SESSION_KIB} && exec "$@"`, 'sh', ...server];
}

/** Keeps freed memory for the next statement. Otherwise, the C library returns free memory at the top of the heap, and
 *  the next statement allocates it again page by page. */
const memory = {
  MALLOC_TRIM_THRESHOLD_: String(4 * 1024 * 1024),
  MALLOC_MMAP_THRESHOLD_: String(1024 * 1024),
};

/** Settings for a small machine: little memory, few processes and no network port. */
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
    // A transaction that stays open would block all readers of the event store.
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

/** Reads the server's state from its pid file. Connection attempts before the server is ready would fill its log. */
function saysReady(data: string, pid: number): boolean {
  try {
    const lines = readFileSync(join(data, 'postmaster.pid'), 'utf8').split('\n');
    return lines[0] === String(pid) && lines[7]?.startsWith('ready') === true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
}

/** @throws Error if the server refuses the connection with a permanent error */
async function answers(url: string): Promise<boolean> {
  try {
    await withConnection(url, () => Promise.resolve());
    return true;
  } catch (error) {
    if (!isDatabaseAway(error)) throw error;
    return false;
  }
}
