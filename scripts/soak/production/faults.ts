/** Faults for the production edition. */
import { setTimeout as wait } from 'node:timers/promises';
import { natsService } from '#infra/testing/nats-server.ts';
import { s3Service } from '#infra/testing/s3-server.ts';
import type { Kind } from '#services/minimal/testing/fleet.ts';
import { descendants } from '#services/minimal/testing/product.ts';
import { send } from '../edition.ts';
import type { Fault } from '../faults.ts';
import { leaseSeconds, type Cluster } from './cluster.ts';
import { hasOwnNetwork, losePackets } from './packet-loss.ts';

type ClusterFault = Fault<Cluster>;

/** After this outage, a runtime has lost all its runs. */
const beyondLease = leaseSeconds + 6;

const kill = (kind: Kind): ClusterFault => ({
  name: `${kind} killed`,
  async inflict(cluster) {
    const victim = cluster.next(kind);
    await victim.end('SIGKILL');
    victim.start();
  },
});

const stop = (kind: Kind, seconds: number): ClusterFault => ({
  name: `${kind} stopped for ${seconds} s`,
  async inflict(cluster) {
    const victim = cluster.next(kind);
    victim.signal('SIGSTOP');
    await wait(seconds * 1000);
    victim.signal('SIGCONT');
  },
});

const restartInTurn = (kind: Kind): ClusterFault => ({
  name: `${kind}s restarted in turn`,
  inflict: (cluster) => cluster.restartInTurn(kind),
});

/** Makes the network accept all data but deliver none.
 *  @param names the affected processes */
async function silence(cluster: Cluster, names: readonly string[], seconds: number) {
  const proxies = names.map((name) => cluster.networkOf(name));
  for (const proxy of proxies) await proxy.set({ kind: 'blackhole' });
  await wait(seconds * 1000);
  for (const proxy of proxies) await proxy.set({ kind: 'pass' });
}

const silentRuntime: ClusterFault = {
  name: 'network of a runtime silent for 20 s',
  inflict: async (cluster) => await silence(cluster, [cluster.next('runtime').name], 20),
};

const loss = (name: string, seconds: number, probability: number): ClusterFault => ({
  name: `${name} for ${seconds} s`,
  async inflict(cluster) {
    const { host } = cluster.networkOf(cluster.next('runtime').name);
    const stopLosing = losePackets(host, probability);
    await wait(seconds * 1000);
    if (stopLosing() === 0) throw new Error(`no packet to or from ${host} was lost`);
  },
});

const databaseFaults: readonly ClusterFault[] = [
  {
    name: 'PostgreSQL killed',
    async inflict(cluster) {
      await cluster.database.kill();
      await cluster.database.restart();
    },
  },
  {
    name: 'PostgreSQL stopped for 10 s',
    async inflict({ database: { primaryPid } }) {
      const pids = [primaryPid, ...(await descendants(primaryPid))];
      for (const pid of pids) send(pid, 'SIGSTOP');
      await wait(10_000);
      for (const pid of pids) send(pid, 'SIGCONT');
    },
  },
  {
    name: 'database silent for 15 s',
    inflict: async (cluster) => await silence(cluster, [...cluster.networks.keys()], 15),
  },
  {
    name: 'failover to the standby',
    inflict: (cluster) => cluster.database.failOver(),
    repair: (cluster) => cluster.database.rebuildStandby(),
  },
  {
    name: 'standby down for 10 s',
    async inflict(cluster) {
      await cluster.database.killStandby();
      await wait(10_000);
      await cluster.database.restartStandby();
    },
  },
];

const natsFaults: readonly ClusterFault[] = [
  {
    name: 'NATS down for 20 s',
    async inflict({ nats }) {
      await nats?.kill();
      await wait(20_000);
      await nats?.restart();
    },
  },
  {
    name: 'NATS stopped for 20 s',
    async inflict({ nats }) {
      nats?.signal('SIGSTOP');
      await wait(20_000);
      nats?.signal('SIGCONT');
    },
  },
];

const s3Faults = (['refuse', 'blackhole'] as const).map((kind): ClusterFault => ({
  name: `S3 server ${kind === 'refuse' ? 'down' : 'silent'} for 20 s`,
  async inflict({ s3 }) {
    await s3?.proxy.set({ kind });
    await wait(20_000);
    await s3?.proxy.set({ kind: 'pass' });
  },
}));

const everything: ClusterFault = {
  name: 'everything killed',
  async inflict(cluster) {
    const { replicas } = cluster.fleet;
    await Promise.all([
      ...replicas.map((replica) => replica.end('SIGKILL')),
      cluster.database.kill(),
      cluster.nats?.kill(),
    ]);
    await Promise.all([cluster.database.restart(), cluster.nats?.restart()]);
    for (const replica of replicas) replica.start();
  },
};

const kinds: readonly Kind[] = ['backend', 'scheduler', 'runtime'];

/** Faults that are applied to one cluster, one after another. */
export interface Experiment {
  readonly name: string;
  readonly faults: readonly ClusterFault[];
}

export const experiments: readonly Experiment[] = [
  {
    name: 'processes',
    faults: [
      ...kinds.map(kill),
      stop('backend', 5),
      stop('scheduler', 5),
      stop('runtime', beyondLease),
      everything,
    ],
  },
  { name: 'database', faults: databaseFaults },
  {
    name: 'NATS and S3',
    faults: [
      ...(natsService.found === undefined ? [] : natsFaults),
      ...(s3Service.found === undefined ? [] : s3Faults),
    ],
  },
  {
    name: 'network',
    faults: [
      silentRuntime,
      ...(hasOwnNetwork
        ? [
            loss('runtime cut off from the database', 20, 1),
            loss('runtime loses 20 % of packets', 30, 0.2),
            loss('runtime loses 50 % of packets', 20, 0.5),
          ]
        : []),
    ],
  },
  { name: 'rolling restarts', faults: kinds.map(restartInTurn) },
];

/** Faults that this machine cannot produce, with the missing requirements. One line each. */
export const skipped: readonly string[] = [
  ...[natsService, s3Service].flatMap(({ service, found, reason }) =>
    found === undefined ? [`${service} down: ${reason}`] : [],
  ),
  ...(hasOwnNetwork
    ? []
    : ['packet loss: it requires root and apt-get install iptables iproute2 util-linux']),
];
