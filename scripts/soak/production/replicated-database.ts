/** A primary and a standby behind one address, set up as described in docs/high-availability.md. Commits wait for the
 *  standby. After a promotion, the address points to the former standby. */
import { chmodSync, renameSync, symlinkSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { serverAccount } from '#infra/embedded/account.ts';
import { findBinaries } from '#infra/embedded/binaries.ts';
import { ADMIN_USER, DATABASE, SERVICE_USER } from '#infra/embedded/cluster.ts';
import { preparePrincipals } from '#infra/embedded/principals.ts';
import { migrate } from '#infra/postgres/migrate.ts';
import { DatabaseNode, nodeAddress, nodePassword } from '#infra/testing/database-node.ts';

const migrations = fileURLToPath(new URL('../../../migrations', import.meta.url));

export class ReplicatedDatabase {
  /** The URL of the current primary. */
  readonly serviceUrl: string;
  readonly #folder: string;
  #primary: DatabaseNode;
  #standby: DatabaseNode;

  private constructor(folder: string, primary: DatabaseNode, standby: DatabaseNode) {
    this.#folder = folder;
    this.#primary = primary;
    this.#standby = standby;
    this.serviceUrl = nodeAddress(this.#address, SERVICE_USER, DATABASE);
  }

  /** Starts both servers with an empty, migrated database. */
  static async start(): Promise<ReplicatedDatabase> {
    const folder = await mkdtemp(join(tmpdir(), 'replicated-'));
    chmodSync(folder, 0o711); // the servers may have to run as another user
    const binaries = findBinaries(serverAccount(), join(folder, 'fallback'));
    const first = new DatabaseNode(join(folder, 'first'), binaries);
    const second = new DatabaseNode(join(folder, 'second'), binaries);
    const database = new ReplicatedDatabase(folder, first, second);
    await first.initialise();
    await first.start();
    await preparePrincipals(nodeAddress(first.sockets, ADMIN_USER, 'postgres'), nodePassword);
    await migrate(nodeAddress(first.sockets, ADMIN_USER, DATABASE), { directory: migrations });
    database.#leadTo(first);
    await database.rebuildStandby();
    return database;
  }

  /** The process ID of the current primary. */
  get primaryPid(): number {
    return this.#primary.pid;
  }

  async kill(): Promise<void> {
    await this.#primary.end('SIGKILL');
  }

  async restart(): Promise<void> {
    await this.#primary.start();
  }

  async killStandby(): Promise<void> {
    await this.#standby.end('SIGKILL');
  }

  async restartStandby(): Promise<void> {
    await this.#standby.start();
  }

  /** Kills the primary and promotes the standby. */
  async failOver(): Promise<void> {
    await this.#primary.end('SIGKILL');
    await this.#standby.query('SELECT pg_promote()');
    [this.#primary, this.#standby] = [this.#standby, this.#primary];
    this.#leadTo(this.#primary);
  }

  /** Makes the other server the standby of the new primary. Resolves when commits wait for the standby. */
  async rebuildStandby(): Promise<void> {
    await this.#standby.follow(this.#primary);
    await this.#primary.replicateSynchronously();
  }

  async stop(): Promise<void> {
    await this.#standby.end('SIGINT');
    await this.#primary.end('SIGKILL'); // in other stop modes, the server waits for commits, which in turn wait for the standby
    await rm(this.#folder, { recursive: true, force: true });
  }

  get #address(): string {
    return join(this.#folder, 'address');
  }

  #leadTo(node: DatabaseNode): void {
    const next = `${this.#address}.next`;
    symlinkSync(node.sockets, next);
    renameSync(next, this.#address);
  }
}
