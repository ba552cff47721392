/** Tests the real programs with an unresponsive database: the network drops all packets, or the database processes
 *  are suspended. */
import { readdir, readFile } from 'node:fs/promises';
import type { FaultProxy } from '#infra/testing/fault-proxy.ts';
import { proxied } from '#infra/testing/proxied-database.ts';
import { startSeparateServer, type SeparateServer } from '#infra/testing/separate-server.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Fleet } from './testing/fleet.ts';
import { until } from './testing/product.ts';

/** How long the platform may take to recover after the fault. */
const recoveryMs = 10_000;
/** The maximum response time of a request while the database is unavailable or recovering. */
const answerMs = 15_000;

let server: SeparateServer;
let proxy: FaultProxy;
let fleet: Fleet;
beforeAll(async () => {
  server = await startSeparateServer();
  const way = await proxied(server.serviceUrl);
  proxy = way.proxy;
  fleet = await Fleet.start({
    databaseUrl: way.url,
    replicas: { backend: 1, scheduler: 1, runtime: 0 },
  });
});
afterAll(async () => {
  await fleet.stop();
  await proxy.close();
  await server.stop();
});

test.each([
  {
    fault: 'a network that drops all packets',
    begin: () => proxy.set({ kind: 'blackhole' }),
    end: () => proxy.set({ kind: 'pass' }),
  },
  {
    fault: 'suspended database processes',
    begin: () => signalAll('SIGSTOP'),
    end: () => signalAll('SIGCONT'),
  },
])('requests and health checks get 503 during a database fault: $fault', async ({ begin, end }) => {
  const backend = fleet.of('backend')[0]!;
  const scheduler = fleet.of('scheduler')[0]!;
  const signal = () => AbortSignal.timeout(answerMs);
  const list = () => fleet.fetch(backend, 'GET', '/scripts', undefined, {}, signal());
  // Opens connections that later requests reuse.
  await Promise.all(Array.from({ length: 20 }, list));
  await begin();
  const answers = await Promise.all(Array.from({ length: 40 }, list));
  const seen = answers.map(({ status, headers }) => [status, headers.get('retry-after')]);
  const statusOf = async (url: string) => (await fetch(url, { signal: signal() })).status;
  const health = await Promise.all([
    statusOf(`${backend.url}/health`),
    statusOf(`${backend.url}/readyz`),
    statusOf(`${backend.url}/livez`),
    statusOf(`${scheduler.url}/health`),
  ]);
  await end();
  const endedMs = performance.now();
  expect(seen).toEqual(Array(40).fill([503, '2']));
  expect(health).toEqual([503, 503, 200, 503]);
  await until('everything works again', async () => {
    const all = await Promise.all([
      list(),
      ...[backend, scheduler].map(({ url }) => fetch(`${url}/health`)),
    ]);
    return all.every(({ ok }) => ok) ? true : undefined;
  });
  expect(performance.now() - endedMs).toBeLessThan(recoveryMs);
});

/** Sends a signal to all processes of the database server. */
async function signalAll(signal: NodeJS.Signals): Promise<void> {
  const parent = server.pid();
  process.kill(parent, signal);
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  for (const pid of pids) {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
    if (Number(stat.split(') ')[1]?.split(' ')[1]) === parent) process.kill(Number(pid), signal);
  }
}
