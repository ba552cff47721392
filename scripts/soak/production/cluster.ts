/** Runs the production edition as plain processes: two processes of each service, NATS, an S3 server, and PostgreSQL
 *  with a standby. */
import type { FaultProxy } from '#infra/testing/fault-proxy.ts';
import { natsService, TestNatsServer } from '#infra/testing/nats-server.ts';
import { proxied } from '#infra/testing/proxied-database.ts';
import { s3Service, startS3Server, type TestS3Server } from '#infra/testing/s3-server.ts';
import {
  bucketVariables,
  Fleet,
  type Kind,
  type Replica,
} from '#services/minimal/testing/fleet.ts';
import type { Journal } from '../journal.ts';
import { Subject } from '../subject.ts';
import { CarefulClient } from './careful-client.ts';
import { ReplicatedDatabase } from './replicated-database.ts';

export const leaseSeconds = 8;
const kinds: readonly Kind[] = ['backend', 'scheduler', 'runtime'];
const names = kinds.flatMap((kind) => [`${kind}-1`, `${kind}-2`]);

interface ClusterDeps {
  readonly fleet: Fleet;
  readonly database: ReplicatedDatabase;
  /** The proxies between processes and the database, by process name. */
  readonly networks: ReadonlyMap<string, FaultProxy>;
  readonly nats: TestNatsServer | undefined;
  readonly s3: TestS3Server | undefined;
  /** Functions that stop all processes and servers, in this order. */
  readonly stops: readonly (() => Promise<void>)[];
}

export class Cluster extends Subject {
  readonly fleet: Fleet;
  readonly database: ReplicatedDatabase;
  readonly networks: ReadonlyMap<string, FaultProxy>;
  readonly nats: TestNatsServer | undefined;
  readonly s3: TestS3Server | undefined;
  readonly #stops: ClusterDeps['stops'];
  readonly #client: CarefulClient;
  readonly #turns = new Map<Kind, number>();

  private constructor(deps: ClusterDeps, journal: Journal) {
    super();
    this.fleet = deps.fleet;
    this.database = deps.database;
    this.networks = deps.networks;
    this.nats = deps.nats;
    this.s3 = deps.s3;
    this.#stops = deps.stops;
    this.#client = new CarefulClient(this.fleet.of('backend'), journal);
  }

  /** Starts all processes. NATS and the S3 server are started only if they are installed. */
  static async start(journal: Journal): Promise<Cluster> {
    const stops: (() => Promise<void>)[] = [];
    try {
      const database = await ReplicatedDatabase.start();
      stops.unshift(() => database.stop());
      const nats = natsService.found === undefined ? undefined : await TestNatsServer.start();
      stops.unshift(async () => await nats?.stop());
      const s3 = s3Service.found === undefined ? undefined : await startS3Server();
      stops.unshift(async () => await s3?.stop());
      const ways = new Map<string, { readonly proxy: FaultProxy; readonly url: string }>();
      for (const name of names) {
        const way = await proxied(database.serviceUrl);
        stops.unshift(() => way.proxy.close());
        ways.set(name, way);
      }
      const fleet = await Fleet.start({
        databaseUrl: database.serviceUrl,
        replicas: { backend: 2, scheduler: 2, runtime: 2 },
        restarts: true,
        variables: {
          ORCH_LEASE_SECONDS: String(leaseSeconds),
          ORCH_RUNTIME_SLOTS: '4',
          ORCH_LOG_LEVEL: 'error',
          ...(nats !== undefined && { ORCH_NATS_URL: nats.url }),
          ...(s3 !== undefined && bucketVariables(s3.location)),
        },
        variablesOf: (name) => ({ ORCH_DATABASE_URL: ways.get(name)?.url ?? '' }),
      });
      stops.unshift(() => fleet.stop());
      const networks = new Map([...ways].map(([name, { proxy }]) => [name, proxy]));
      return new Cluster({ fleet, database, networks, nats, s3, stops }, journal);
    } catch (error) {
      for (const stop of stops) await stop();
      throw error;
    }
  }

  async requestTextReliably(
    method: string,
    path: string,
    body?: unknown,
    key?: string,
  ): Promise<string> {
    return await this.#client.requestTextReliably(method, path, body, key);
  }

  /** Returns a process of this kind. Successive calls return the processes in turn. */
  next(kind: Kind): Replica {
    const turn = this.#turns.get(kind) ?? 0;
    this.#turns.set(kind, turn + 1);
    const replicas = this.fleet.of(kind);
    const replica = replicas[turn % replicas.length];
    if (replica === undefined) throw new Error(`no ${kind} was started`);
    return replica;
  }

  /** Returns the proxy between a process and the database. */
  networkOf(name: string): FaultProxy {
    const proxy = this.networks.get(name);
    if (proxy === undefined) throw new Error(`${name} was not started`);
    return proxy;
  }

  /** Replaces the processes of this kind one after another, as an upgrade does. */
  async restartInTurn(kind: Kind): Promise<void> {
    for (const replica of this.fleet.of(kind)) {
      await this.#client.whileReplacing(replica, async () => {
        await replica.end('SIGTERM');
        replica.start();
        await replica.untilHealthy();
      });
    }
  }

  async untilHealthy(): Promise<void> {
    await this.fleet.untilHealthy();
  }

  async stop(): Promise<void> {
    for (const stop of this.#stops) await stop();
  }
}
