/** PostgreSQL for one machine: no Docker, no root, no network port. */
import { mkdirSync, realpathSync, rmSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { serverAccount } from './account.ts';
import { findBinaries } from './binaries.ts';
import * as cluster from './cluster.ts';
import { place } from './placement.ts';
import { preparePrincipals } from './principals.ts';
import { startServer, type Exit, type ServerOptions, type ServerProcess } from './server.ts';
import { stopLeftover } from './stop-server.ts';

const FALLBACK_PARENT = '/var/lib/script-orchestration';
/** After a SIGKILL, the server's helpers need some time to exit, and keep the cluster locked until then. */
const START_ATTEMPTS = 5;
const START_PAUSE_MS = 500;

export interface EmbeddedPostgresOptions {
  /** Folder for the cluster and its passwords; created if missing. */
  readonly directory: string;
  /** False in tests: disables flushing to the disk. Default true. */
  readonly durable?: boolean;
  /** The folder for data that the server's account cannot reach in `directory`. */
  readonly fallbackParent?: string;
  /** Receives messages for the user, one line each. */
  readonly say?: (line: string) => void;
}

export interface EmbeddedPostgres {
  /** Owner of the schema; for migrations. */
  readonly adminUrl: string;
  /** For the services, with the privileges that the migrations grant to `orch_app`. */
  readonly serviceUrl: string;
  /** The current process of the server. */
  pid(): number;
  /** Settles when the current process has ended. */
  exited(): Promise<Exit>;
  /** Starts the server again: after its end, or by stopping it first. The addresses are unchanged. */
  restart(): Promise<void>;
  /** Ends every session, then the server. Idempotent. */
  stop(): Promise<void>;
}

/** Creates the cluster at the first start, starts the server, and creates its database and users. A server of a killed
 *  process is stopped first.
 *  @throws Error with a line for the user if the server cannot run here */
export async function startEmbeddedPostgres(
  options: EmbeddedPostgresOptions,
): Promise<EmbeddedPostgres> {
  const { record, server } = await prepare(options);
  let current = await startPatiently(server);
  try {
    await preparePrincipals(server.maintenanceUrl, record.servicePassword);
  } catch (error) {
    await current.stop();
    throw error;
  }
  return {
    ...addresses(record),
    pid: () => current.pid,
    exited: () => current.exited,
    async restart() {
      await current.stop();
      current = await startPatiently(server);
    },
    async stop() {
      await current.stop();
      removeSockets(server);
    },
  };
}

async function prepare(
  options: EmbeddedPostgresOptions,
): Promise<{ record: cluster.ClusterRecord; server: ServerOptions }> {
  const { durable = true, fallbackParent = FALLBACK_PARENT, say = () => undefined } = options;
  mkdirSync(options.directory, { recursive: true, mode: 0o711 });
  const directory = realpathSync(options.directory);
  const account = serverAccount();
  const binaries = findBinaries(account, fallbackParent);
  const known = cluster.readRecord(directory);
  const { home, data, sockets } = place({
    directory,
    account,
    fallbackParent,
    knownHome: known?.home,
    say,
  });
  const record = {
    home,
    sockets,
    adminPassword: known?.adminPassword ?? cluster.newPassword(),
    servicePassword: known?.servicePassword ?? cluster.newPassword(),
  };
  if (known === undefined) cluster.refuseForeign(data);
  cluster.writeRecord(directory, record);
  const maintenanceUrl = socketUrl(record, cluster.ADMIN_USER, 'postgres');
  const logFile = join(directory, 'postgres.log');
  const leftover = await stopLeftover(data);
  if (leftover !== undefined) say(`Stopped a database server of a previous start (${leftover})`);
  const { adminPassword } = record;
  await cluster.initialiseCluster({ binaries, data, account, adminPassword, durable });
  return { record, server: { binaries, data, sockets, account, durable, logFile, maintenanceUrl } };
}

async function startPatiently(server: ServerOptions): Promise<ServerProcess> {
  for (let attempt = 1; ; attempt++) {
    await stopLeftover(server.data);
    try {
      return await startServer(server);
    } catch (error) {
      if (attempt === START_ATTEMPTS) throw error;
      await wait(START_PAUSE_MS);
    }
  }
}

/** Removes the socket folder, unless it is next to the data. */
function removeSockets({ sockets, data }: ServerOptions): void {
  if (dirname(sockets) !== dirname(data)) rmSync(sockets, { recursive: true, force: true });
}

/** The addresses of the cluster in `directory`, for commands that run while the server runs; undefined
 *  if there is no cluster. */
export function embeddedAddresses(
  directory: string,
): Pick<EmbeddedPostgres, 'adminUrl' | 'serviceUrl'> | undefined {
  const record = cluster.readRecord(resolve(directory));
  return record === undefined ? undefined : addresses(record);
}

/** The folder with the files of the cluster that belongs to `directory`: in `directory`, or where the server's
 *  account can reach it. */
export function clusterFolder(directory: string): string {
  const home = cluster.readRecord(directory)?.home ?? '.';
  return home === '.' ? directory : home;
}

function addresses(record: cluster.ClusterRecord): { adminUrl: string; serviceUrl: string } {
  return {
    adminUrl: socketUrl(record, cluster.ADMIN_USER, cluster.DATABASE),
    serviceUrl: socketUrl(record, cluster.SERVICE_USER, cluster.DATABASE),
  };
}

/** An address for both `pg` and `psql`. It names the port, because PGPORT would otherwise override it. */
function socketUrl(record: cluster.ClusterRecord, user: string, database: string): string {
  const { sockets, adminPassword, servicePassword } = record;
  const password = user === cluster.ADMIN_USER ? adminPassword : servicePassword;
  const host = encodeURIComponent(sockets);
  return `postgres://${user}:${password}@/${database}?host=${host}&port=5432`;
}
