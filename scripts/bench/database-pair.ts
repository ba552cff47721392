/** A primary database server and its standby behind one address. */
import { once } from 'node:events';
import { chmodSync, mkdirSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { serverAccount } from '#infra/embedded/account.ts';
import { findBinaries } from '#infra/embedded/binaries.ts';
import { DATABASE, SERVICE_USER } from '#infra/embedded/cluster.ts';
import { DatabaseNode, nodeAddress } from '#infra/testing/database-node.ts';
import { startNode } from './database.ts';

const socketName = '.s.PGSQL.5432';

/** Forwards connections to one node, like a floating IP address or a proxy in production. */
class Door {
  readonly folder: string;
  readonly #server: Server;
  readonly #connections = new Set<Socket>();
  #target: DatabaseNode;

  constructor(folder: string, target: DatabaseNode) {
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

  /** Directs new connections to `target`. */
  leadTo(target: DatabaseNode): void {
    this.#target = target;
  }

  /** Closes all current connections. */
  cut(): void {
    for (const connection of this.#connections) connection.destroy();
  }

  /** Closes all connections and refuses new ones. */
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
  /** The URL of the current primary. */
  readonly serviceUrl: string;
  readonly #folder: string;
  readonly #first: DatabaseNode;
  readonly #second: DatabaseNode;
  readonly #services: Door;
  readonly #replication: Door;

  private constructor(folder: string, first: DatabaseNode, second: DatabaseNode) {
    this.#folder = folder;
    [this.#first, this.#second] = [first, second];
    this.#services = new Door(join(folder, 'services'), first);
    this.#replication = new Door(join(folder, 'replication'), first);
    this.serviceUrl = nodeAddress(this.#services.folder, SERVICE_USER, DATABASE);
  }

  /** @param synchronous whether the primary acknowledges a commit only after it is replicated */
  static async start(synchronous: boolean): Promise<DatabasePair> {
    const folder = await mkdtemp(join(tmpdir(), 'pair-'));
    chmodSync(folder, 0o711);
    const binaries = findBinaries(serverAccount(), join(folder, 'fallback'));
    const first = new DatabaseNode(join(folder, 'first'), binaries);
    const second = new DatabaseNode(join(folder, 'second'), binaries);
    const pair = new DatabasePair(folder, first, second);
    await pair.#services.open();
    await pair.#replication.open();
    await startNode(first);
    await second.follow(first, pair.#replication.folder);
    if (synchronous) await first.replicateSynchronously();
    return pair;
  }

  /** Stops replication to the second node. */
  fallBehind(): void {
    this.#replication.close();
  }

  /** Kills the first node and promotes the second. */
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
