/** A database server with its own data folder and socket. It can be killed, and can replicate another server. */
import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, mkdirSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { runAs, serverAccount } from '#infra/embedded/account.ts';
import { ADMIN_USER, DATABASE, initialiseCluster } from '#infra/embedded/cluster.ts';
import pg from 'pg';

/** The password for all users on all nodes. */
export const nodePassword = 'both-nodes';
/** After a SIGKILL, the server's child processes keep the data folder locked for some time. */
const startAttempts = 40;
const account = serverAccount();

export class DatabaseNode {
  readonly #folder: string;
  readonly #binaries: string;
  #process: ChildProcess | undefined;

  /** @param binaries the folder that contains `bin/postgres` */
  constructor(folder: string, binaries: string) {
    this.#folder = folder;
    this.#binaries = binaries;
    this.#makeFolder(this.data, 0o700);
    this.#makeFolder(this.sockets, 0o711);
    chmodSync(folder, 0o711);
  }

  get data(): string {
    return join(this.#folder, 'data');
  }

  get sockets(): string {
    return join(this.#folder, 'sockets');
  }

  get pid(): number {
    const pid = this.#process?.pid;
    if (pid === undefined) throw new Error('the database server was not started');
    return pid;
  }

  async initialise(): Promise<void> {
    await initialiseCluster({
      binaries: this.#binaries,
      data: this.data,
      account,
      adminPassword: nodePassword,
      durable: true,
    });
  }

  /** Starts the server. Resolves when it responds. */
  async start(): Promise<void> {
    const settings = {
      listen_addresses: '',
      unix_socket_directories: this.sockets,
      port: '5432',
      wal_level: 'replica',
      wal_keep_size: '256MB',
      max_wal_senders: '4',
      max_connections: '200',
      io_method: 'sync',
    };
    const options = Object.entries(settings).map(([name, value]) => `--${name}=${value}`);
    for (let attempt = 1; attempt <= startAttempts; attempt += 1) {
      const started = spawn(join(this.#binaries, 'bin/postgres'), ['-D', this.data, ...options], {
        ...runAs(account),
        stdio: 'ignore',
      });
      const kill = (): boolean => started.kill('SIGKILL');
      process.once('exit', kill);
      started.once('exit', () => process.off('exit', kill));
      this.#process = started;
      while (started.exitCode === null && started.signalCode === null) {
        if ((await this.query('SELECT', 'postgres').catch(() => undefined)) !== undefined) return;
        await pause(50);
      }
      await pause(250);
    }
    throw new Error('a database server exited during startup');
  }

  /** Executes a statement as an administrator. @returns all rows */
  async query<Row extends object>(
    text: string,
    database: string = DATABASE,
  ): Promise<readonly Row[]> {
    const client = new pg.Client(nodeAddress(this.sockets, ADMIN_USER, database));
    client.on('error', () => undefined);
    try {
      await client.connect();
      return (await client.query<Row>(text)).rows;
    } finally {
      await client.end().catch(() => undefined);
    }
  }

  /** Deletes this node's data, and starts the node as a standby with a copy of the primary's data. Resolves when the
   *  primary streams changes.
   *  @param sockets the folder of the primary's socket */
  async follow(primary: DatabaseNode, sockets = primary.sockets): Promise<void> {
    await rm(this.data, { recursive: true, force: true });
    this.#makeFolder(this.data, 0o700);
    const client = new pg.Client(nodeAddress(primary.sockets, ADMIN_USER, 'postgres'));
    await client.connect();
    try {
      await client.query(`SELECT pg_backup_start('standby', fast => true)`);
      await promisify(execFile)('cp', ['-a', `${primary.data}/.`, this.data]);
      const { rows } = await client.query<{ labelfile: string }>(
        'SELECT labelfile FROM pg_backup_stop(wait_for_archive => false)',
      );
      this.#write('backup_label', rows[0]?.labelfile ?? '');
    } finally {
      await client.end();
    }
    await rm(join(this.data, 'postmaster.pid'));
    const source = `host=${sockets} user=${ADMIN_USER} password=${nodePassword}`;
    this.#configure({ primary_conninfo: source });
    this.#write('standby.signal', '');
    await this.start();
    const streaming = `SELECT FROM pg_stat_replication WHERE state = 'streaming'`;
    while ((await primary.query(streaming)).length === 0) await pause(50);
  }

  /** Makes commits wait for a standby from now on. */
  async replicateSynchronously(): Promise<void> {
    this.#configure({ synchronous_standby_names: '*' });
    await this.query('SELECT pg_reload_conf()');
  }

  /** Replaces the settings in the data folder. */
  #configure(settings: Readonly<Record<string, string>>): void {
    const lines = Object.entries(settings).map(([name, value]) => `${name} = '${value}'\n`);
    this.#write('postgresql.auto.conf', lines.join(''));
  }

  async end(signal: 'SIGINT' | 'SIGKILL'): Promise<void> {
    const server = this.#process;
    if (server === undefined || server.exitCode !== null || server.signalCode !== null) return;
    const ended = once(server, 'exit');
    server.kill(signal);
    await ended;
  }

  #makeFolder(path: string, mode: number): void {
    mkdirSync(path, { recursive: true, mode });
    own(path);
  }

  #write(name: string, text: string): void {
    writeFileSync(join(this.data, name), text);
    own(join(this.data, name));
  }
}

/** Returns the URL of a database, given the folder of its server's socket. */
export function nodeAddress(sockets: string, user: string, database: string): string {
  return `postgres://${user}:${nodePassword}@/${database}?host=${encodeURIComponent(sockets)}&port=5432`;
}

function own(path: string): void {
  if (account !== undefined) chownSync(path, account.uid, account.gid);
}
