/** Runs PostgreSQL on one machine without Docker, root access or a network port. */
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
/**
 * After a SIGKILL, the server's child processes need some time to exit. The child processes keep the cluster locked
 * until then.
 */
const START_ATTEMPTS = 5;
const START_PAUSE_MS = 500;

export interface EmbeddedPostgresOptions {
  /** Folder for the cluster and its passwords; created if missing. */
  readonly directory: string;
  /** Whether to flush data to disk. Default true; tests set it to false. */
  readonly durable?: boolean;
  /** The parent folder for data if the server's account cannot access `directory`. */
  readonly fallbackParent?: string;
  /** Receives messages for the user, one line each. */
  readonly say?: (line: string) => void;
}

export interface EmbeddedPostgres {
  /** The URL of the schema owner, for migrations. */
  readonly adminUrl: string;
  /** The URL for the services, which have only the privileges granted to `orch_app`. */
  readonly serviceUrl: string;
  /** The process ID of the current server process. */
  pid(): number;
  /** Resolves when the current server process has exited. */
  exited(): Promise<Exit>;
  /** Restarts the server, whether it is running or has exited. The URLs stay the same. */
  restart(): Promise<void>;
  /** Ends all sessions and stops the server. Idempotent. */
  stop(): Promise<void>;
}

/** Starts the server, and creates the cluster, its database and its users at the first start. First stops any leftover
 *  server of a killed process.
 *  @throws Error with a message for the user if the server cannot run on this machine */
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

/** Returns the URLs of the cluster in `directory`, for commands that run alongside the server.
 *  @returns undefined if there is no cluster */
export function embeddedAddresses(
  directory: string,
): Pick<EmbeddedPostgres, 'adminUrl' | 'serviceUrl'> | undefined {
  const record = cluster.readRecord(resolve(directory));
  return record === undefined ? undefined : addresses(record);
}

/** Returns the folder that contains the files of the cluster for `directory`. This may be a different folder if the
 *  server's account cannot access `directory`. */
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

/** Builds a URL that works for both `pg` and `psql`. The URL names the port because PGPORT would otherwise override
 *  it. */
function socketUrl(record: cluster.ClusterRecord, user: string, database: string): string {
  const { sockets, adminPassword, servicePassword } = record;
  const password = user === cluster.ADMIN_USER ? adminPassword : servicePassword;
  const host = encodeURIComponent(sockets);
  return `postgres://${user}:${password}@/${database}?host=${host}&port=5432`;
}
