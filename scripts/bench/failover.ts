/** Kills the primary database while runs execute, and promotes its streaming standby. Measures the downtime and the
 *  amount of acknowledged data that is lost. */
import { performance } from 'node:perf_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import { openDatabase } from '#infra/postgres/database.ts';
import { Fleet } from '#services/minimal/testing/fleet.ts';
import {
  unevenRuns,
  untilIdle,
  wronglyExecuted,
} from '#services/minimal/testing/replica-checks.ts';
import { askForRun, prepareLoad } from '#services/minimal/testing/replica-load.ts';
import { DatabasePair } from './database-pair.ts';
import { row } from './report.ts';

const runs = 600;
const concurrentClients = 6;

const ways = [
  { name: 'synchronous', synchronous: true, behindMs: 0, bar: '0' },
  { name: 'asynchronous', synchronous: false, behindMs: 0, bar: '–' },
  { name: 'asynchronous, a second behind', synchronous: false, behindMs: 1_000, bar: '–' },
];

export async function benchFailover(): Promise<void> {
  for (const way of ways) await loseNode(way);
}

async function loseNode({ name, synchronous, behindMs, bar }: (typeof ways)[number]) {
  const pair = await DatabasePair.start(synchronous);
  const fleet = await Fleet.start({
    databaseUrl: pair.serviceUrl,
    replicas: { backend: 2, scheduler: 2, runtime: 2 },
    variables: { ORCH_LEASE_SECONDS: '6' },
  });
  const database = openDatabase(pair.serviceUrl, {
    connections: 2,
    applicationName: 'bench',
    onIdleError: () => undefined,
  });
  try {
    const scripts = await prepareLoad(fleet);
    const accepted: string[] = [];
    let asked = 0;
    let lostAt = Infinity;
    let servedAfterMs = 0;
    const ask = async (): Promise<void> => {
      while (asked < runs) {
        asked += 1;
        const askedAt = performance.now();
        accepted.push(await askForRun(fleet, scripts, asked, accepted));
        if (servedAfterMs === 0 && askedAt > lostAt) servedAfterMs = performance.now() - lostAt;
        if (asked >= runs / 2 && lostAt === Infinity) {
          lostAt = Number.MAX_VALUE;
          if (behindMs > 0) pair.fallBehind();
          await pause(behindMs);
          lostAt = performance.now();
          await pair.loseFirst();
        }
      }
    };
    await Promise.all(Array.from({ length: concurrentClients }, ask));
    for (const id of scripts.schedules) {
      await fleet.call('PATCH', `/schedules/${id}`, { enabled: false });
    }
    const all = await untilIdle(database.pool);
    const known = new Set(all.map(({ run_id }) => run_id));
    const gone = accepted.filter((runId) => !known.has(runId)).length;
    const wrong = await wronglyExecuted(database.pool, fleet, all);
    const uneven = await unevenRuns(database.pool);
    row(
      `standby promoted, ${name}: acknowledged runs that are lost`,
      `${gone} of ${accepted.length}; without exactly one end ${uneven.length}; executed beyond the record ${wrong.length}; served again after ${(servedAfterMs / 1000).toFixed(1)} s`,
      bar,
    );
  } finally {
    await database.close();
    await fleet.stop();
    await pair.stop();
  }
}
