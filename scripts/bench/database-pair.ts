/** Two database servers, of which the second follows the first, behind one address. */
import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, chmodSync, chownSync, mkdirSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { runAs, serverAccount } from '#infra/embedded/account.ts';
import { findBinaries } from '#infra/embedded/binaries.ts';
import { ADMIN_USER, DATABASE, initialiseCluster, SERVICE_USER } from '#infra/embedded/cluster.ts';
import { preparePrincipals } from '#infra/embedded/principals.ts';
import { migrate } from '#infra/postgres/migrate.ts';
import pg from 'pg';

const migrations = fileURLToPath(new URL('../../migrations', import.meta.url));
const password = 'both-nodes';
const socketName = '.s.PGSQL.5432';
const settingsName = 'postgresql.auto.conf';
const account = serverAccount();

class Node {
  readonly folder: string;
  readonly #binaries: string;
  #process: ChildProcess | undefined;

  constructor(folder: string, binaries: string) {
    this.folder = folder;
    this.#binaries = binaries;
    mkdirSync(this.data, { recursive: true, mode: 0o700 });
    mkdirSync(this.sockets, { recursive: true, mode: 0o711 });
    chmodSync(folder, 0o711);
    for (const path of [this.data, this.sockets]) own(path);
  }

  get data(): string {
    return join(this.folder, 'data');
  }

  get sockets(): string {
    return join(this.folder, 'sockets');
  }

  async initialise(): Promise<void> {
    await initialiseCluster({
      binaries: this.#binaries,
      data: this.data,
      account,
      adminPassword: password,
      durable: true,
    });
  }

  async start(): Promise<void> {
    const settings = {
      listen_addresses: '',
      unix_socket_directories: this.sockets,
      port: '5432',
      wal_level: 'replica',
      max_wal_senders: '4',
      max_connections: '200',
      io_method: 'sync',
    };
    const options = Object.entries(settings).map(([name, value]) => `--${name}=${value}`);
    this.#process = spawn(join(this.#binaries, 'bin/postgres'), ['-D', this.data, ...options], {
      ...runAs(account),
      stdio: 'ignore',
    });
    for (;;) {
      const answered = await this.query('SELECT', 'postgres').catch(() => undefined);
      if (answered !== undefined) return;
      if (this.#process.exitCode !== null) throw new Error('a database server ended at its start');
      await pause(50);
    }
  }

  /** Every row of an administrator's statement. */
  async query(text: string, database: string = DATABASE): Promise<readonly unknown[]> {
    const client = new pg.Client(address(this.sockets, ADMIN_USER, database));
    client.on('error', () => undefined);
    try {
      await client.connect();
      return (await client.query(text)).rows;
    } finally {
      await client.end().catch(() => undefined);
    }
  }

  async end(signal: 'SIGINT' | 'SIGKILL'): Promise<void> {
    const server = this.#process;
    if (server === undefined || server.exitCode !== null || server.signalCode !== null) return;
    const ended = once(server, 'exit');
    server.kill(signal);
    await ended;
  }
}

/** An address that leads to a node, as a floating address or a proxy does in production. */
class Door {
  readonly folder: string;
  readonly #server: Server;
  readonly #connections = new Set<Socket>();
  #target: Node;

  constructor(folder: string, target: Node) {
    this.folder = folder;
    this.#target = target;
    this.#server = createServer((socket) => this.#lead(socket));
    mkdirSync(folder, { mode: 0o755 });
  }

  async open(): Promise<void> {
    const path = join(this.folder, socketName);
    await once(this.#server.listen(path), 'listening');
    chmodSync(path, 0o777);
  }

  /** Whoever comes from now on is led there. */
  leadTo(target: Node): void {
    this.#target = target;
  }

  /** Cuts whoever is connected. */
  cut(): void {
    for (const connection of this.#connections) connection.destroy();
  }

  /** Cuts everybody, and lets nobody in. */
  close(): void {
    this.#server.close();
    this.cut();
  }

  #lead(socket: Socket): void {
    const server = connect(join(this.#target.sockets, socketName));
    for (const [one, other] of [
      [socket, server],
      [server, socket],
    ] as const) {
      this.#connections.add(one);
      one.on('error', () => undefined);
      one.once('close', () => {
        this.#connections.delete(one);
        other.destroy();
      });
      one.pipe(other);
    }
  }
}

export class DatabasePair {
  /** Leads to the node that is to be asked. */
  readonly serviceUrl: string;
  readonly #folder: string;
  readonly #first: Node;
  readonly #second: Node;
  readonly #services: Door;
  readonly #replication: Door;

  private constructor(folder: string, first: Node, second: Node) {
    this.#folder = folder;
    [this.#first, this.#second] = [first, second];
    this.#services = new Door(join(folder, 'services'), first);
    this.#replication = new Door(join(folder, 'replication'), first);
    this.serviceUrl = address(this.#services.folder, SERVICE_USER, DATABASE);
  }

  /** @param synchronous the first acknowledges what the second has too */
  static async start(synchronous: boolean): Promise<DatabasePair> {
    const folder = await mkdtemp(join(tmpdir(), 'pair-'));
    chmodSync(folder, 0o711);
    const binaries = findBinaries(account, join(folder, 'fallback'));
    const first = new Node(join(folder, 'first'), binaries);
    const second = new Node(join(folder, 'second'), binaries);
    const pair = new DatabasePair(folder, first, second);
    await pair.#services.open();
    await pair.#replication.open();
    await first.initialise();
    await first.start();
    await preparePrincipals(address(first.sockets, ADMIN_USER, 'postgres'), password);
    await migrate(address(first.sockets, ADMIN_USER, DATABASE), { directory: migrations });
    await first.end('SIGINT');
    await pair.#follow(synchronous);
    return pair;
  }

  async #follow(synchronous: boolean): Promise<void> {
    const [first, second] = [this.#first, this.#second];
    // With its owner.
    execFileSync('cp', ['-a', `${first.data}/.`, second.data]);
    const source = `host=${this.#replication.folder} user=${ADMIN_USER} password=${password}`;
    appendFileSync(join(second.data, settingsName), `primary_conninfo = '${source}'\n`);
    writeFileSync(join(second.data, 'standby.signal'), '');
    own(join(second.data, 'standby.signal'));
    if (synchronous) {
      appendFileSync(join(first.data, settingsName), "synchronous_standby_names = '*'\n");
    }
    await Promise.all([first.start(), second.start()]);
  }

  /** The second hears of nothing more that the first does. */
  fallBehind(): void {
    this.#replication.close();
  }

  /** The first node is gone from one moment to the next; the second takes its place. */
  async loseFirst(): Promise<void> {
    await this.#first.end('SIGKILL');
    await this.#second.query('SELECT pg_promote()');
    this.#services.leadTo(this.#second);
    this.#services.cut();
  }

  async stop(): Promise<void> {
    this.#services.close();
    this.#replication.close();
    await Promise.all([this.#first.end('SIGINT'), this.#second.end('SIGINT')]);
    await rm(this.#folder, { recursive: true, force: true });
  }
}

function address(sockets: string, user: string, database: string): string {
  return `postgres://${user}:${password}@/${database}?host=${encodeURIComponent(sockets)}&port=5432`;
}

function own(path: string): void {
  if (account !== undefined) chownSync(path, account.uid, account.gid);
}
