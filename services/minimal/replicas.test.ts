/** Runs several replicas of each process on one database, with and without NATS. Each accepted run must be executed
 *  once, even when processes are killed. `ORCH_TEST_REPLICA_RUNS=2000` makes the test longer.
 *  `ORCH_TEST_REPLICA_OBJECTS=s3` stores files in an S3 server, as in production. */
import { availableParallelism } from 'node:os';
import { openDatabase, type Database } from '#infra/postgres/database.ts';
import { startS3Server, type TestS3Server } from '#infra/testing/s3-server.ts';
import { createTestDatabase, type TestDatabase } from '#infra/testing/database.ts';
import { caddyService, TestFront } from '#infra/testing/front.ts';
import { natsService, TestNatsServer } from '#infra/testing/nats-server.ts';
import { serveDueSchedules } from '#services/scheduler/schedules/due-schedules.ts';
import { platformSettings, readConfig } from '#services/shared/config.ts';
import { createLogger } from '#services/shared/logger.ts';
import { openPlatform, type Platform } from '#services/shared/platform.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { describeWith } from '../../scripts/testing/optional-service.ts';
import { startPackageIndex, wheel } from '../../scripts/testing/package-index.ts';
import { bucketVariables, Fleet } from './testing/fleet.ts';
import { until } from './testing/product.ts';
import { killAtRandom } from './testing/replica-chaos.ts';
import {
  errorsInFeed,
  gapsInLedger,
  unevenRuns,
  unfollowedRuns,
  untilIdle,
  wronglyExecuted,
} from './testing/replica-checks.ts';
import { askForRun, prepareLoad } from './testing/replica-load.ts';

const runs = Number(process.env['ORCH_TEST_REPLICA_RUNS'] ?? 60);
const seed = Number(process.env['ORCH_TEST_REPLICA_SEED'] ?? 20_260_101);
const inBucket = process.env['ORCH_TEST_REPLICA_OBJECTS'] === 's3';
const concurrentClients = 6;
/** Ensures that each kind of process is killed at least once, even with few runs. */
const minKills = 4;
const runsPerKill = 25;
const slots = availableParallelism() * 2;
const awayMs = 10 * 60_000;
const greeting = wheel({
  name: 'greeting',
  version: '1.0',
  files: { 'greeting.py': 'WORD = "new"' },
});

interface Made {
  readonly id: string;
}

function suite(
  name: string,
  hasFront: boolean,
  startNats: () => Promise<TestNatsServer | undefined>,
): void {
  describe(name, { timeout: 120_000 + runs * 500 }, () => {
    const closing: (() => Promise<void>)[] = [];
    let made: TestDatabase;
    let database: Database;
    let nats: TestNatsServer | undefined;
    let s3: TestS3Server | undefined;
    let front: TestFront | undefined;
    let fleet: Fleet;
    beforeAll(async () => {
      const index = await startPackageIndex([greeting]);
      [made, nats, s3] = await Promise.all([
        createTestDatabase(),
        startNats(),
        inBucket ? startS3Server() : undefined,
      ]);
      database = openDatabase(made.serviceUrl, {
        connections: 4,
        applicationName: 'test',
        onIdleError: () => undefined,
      });
      fleet = await Fleet.start({
        databaseUrl: made.serviceUrl,
        replicas: { backend: 2, scheduler: 2, runtime: 3 },
        variables: {
          ORCH_LEASE_SECONDS: '4',
          ORCH_RUNTIME_SLOTS: String(slots),
          ORCH_KEEPERS: '2',
          PIP_INDEX_URL: index.url,
          ...(nats !== undefined && { ORCH_NATS_URL: nats.url }),
          ...(s3 !== undefined && bucketVariables(s3.location)),
        },
      });
      closing.push(() => index.close());
      if (!hasFront) return;
      const backends = fleet.of('backend').map(({ url }) => new URL(url).host);
      front = await TestFront.start({ backends });
      fleet.goThrough(front);
    }, 180_000);
    afterAll(async () => {
      await fleet.stop();
      await front?.stop();
      for (const close of closing) await close();
      await nats?.stop();
      await s3?.stop();
      await database.close();
      await made.drop();
    });

    /** Opens the platform in this process, which then acts as an additional process of the platform. */
    async function openOwn(): Promise<Platform> {
      const config = readConfig(platformSettings, {
        ORCH_DATABASE_URL: made.serviceUrl,
        ...(nats !== undefined && { ORCH_NATS_URL: nats.url }),
      });
      const logger = createLogger('test', 'silent');
      const platform = await openPlatform({ ...config, name: 'test', connections: 4, logger });
      closing.push(() => platform.close());
      return platform;
    }

    test('each run finishes exactly once when any process is killed at any time', async () => {
      const scripts = await prepareLoad(fleet);
      const accepted: string[] = [];
      let asked = 0;
      const ask = async () => {
        while (asked < runs) {
          accepted.push(await askForRun(fleet, scripts, (asked += 1), accepted));
        }
      };
      const [killed] = await Promise.all([
        killAtRandom({
          fleet,
          nats,
          front,
          seed,
          kills: Math.max(minKills, Math.floor(runs / runsPerKill)),
          progress: () => asked / runs,
        }),
        ...Array.from({ length: concurrentClients }, ask),
      ]);
      for (const id of scripts.schedules) {
        await fleet.call('PATCH', `/schedules/${id}`, { enabled: false });
      }
      const all = await untilIdle(database.pool);

      const known = new Set(all.map(({ run_id }) => run_id));
      expect(accepted.filter((runId) => !known.has(runId))).toEqual([]);
      expect(new Set(all.map((run) => run.trigger_type))).toEqual(
        new Set(['manual', 'api', 'webhook', 'schedule', 'event', 'rerun', 'retry']),
      );
      expect(await unevenRuns(database.pool)).toEqual([]);
      expect(await unfollowedRuns(database.pool, scripts)).toEqual([]);
      expect(await wronglyExecuted(database.pool, fleet, all)).toEqual([]);
      expect(await gapsInLedger(database.pool)).toEqual([]);
      if (nats !== undefined) expect(await errorsInFeed(database.pool, nats.url)).toBe(0);
      const ended = Object.entries(Object.groupBy(all, (run) => run.failure_reason ?? run.status));
      console.log(
        `${name}: ${all.length} runs, of which ${accepted.length} were asked for: ` +
          `${ended.map(([how, those]) => `${those?.length} ${how}`).join(', ')}; killed: ${killed.join(', ')}`,
      );
    });

    test('applies a saved change on every replica immediately', async () => {
      const [here, there] = fleet.of('backend');
      const heard: string[] = [];
      const { bus } = await openOwn();
      bus.subscribe('script-updated', ({ scriptId, version }) =>
        heard.push(`${scriptId} ${version}`),
      );
      bus.subscribe('reload', ({ scheduleId }) => heard.push(`${scheduleId}`));
      const { id } = await fleet.call<Made>('POST', '/scripts', {
        name: 'Saved',
        max_concurrent_runs: 100,
      });
      const save = (path: string, content: string) =>
        fleet.call('PUT', `/scripts/${id}/files/${path}`, { content, encoding: 'utf-8' }, here);
      await save('main.py', 'import time; time.sleep(0.3); print("old")');
      const { id: scheduleId } = await fleet.call<Made>('POST', '/schedules', {
        script_id: id,
        kind: 'interval',
        interval_seconds: 86_400,
      });
      expect(await textsOf(id, slots + 2)).toEqual(Array(slots + 2).fill('old'));

      await save('requirements.txt', 'greeting==1.0\n');
      await save('main.py', 'import greeting, time; time.sleep(0.3); print(greeting.WORD)');
      expect(await textsOf(id, slots + 2)).toEqual(Array(slots + 2).fill('new'));
      const { rows } = await database.pool.query<{ runtime_id: string }>(
        'SELECT DISTINCT runtime_id FROM runs WHERE script_id = $1',
        [id],
      );
      expect(rows.length).toBeGreaterThan(1);

      await fleet.call('PATCH', `/schedules/${scheduleId}`, { interval_seconds: 1 }, there);
      await until('a run of the changed schedule has ended', async () => {
        const { rows: served } = await database.pool.query(
          `SELECT FROM runs WHERE script_id = $1 AND trigger_type = 'schedule' AND status = 'success'`,
          [id],
        );
        return served.length > 0 ? true : undefined;
      });
      await fleet.call('DELETE', `/schedules/${scheduleId}`);
      await until('what was done has been told', async () =>
        heard.includes(`${id} 4`) && heard.filter((one) => one === scheduleId).length >= 3
          ? true
          : undefined,
      );
    });

    /** Requests several concurrent runs from the second backend.
     *  @returns the first output line of each run */
    async function textsOf(scriptId: string, count: number): Promise<readonly string[]> {
      const backend = fleet.of('backend')[1];
      const line = async () => {
        const { run_id: runId } = await fleet.call<{ run_id: string }>(
          'POST',
          `/runs/scripts/${scriptId}/run`,
          {},
          backend,
        );
        await until('the run has ended', async () => {
          const run = await fleet.call<{ finished_at: string | null }>('GET', `/runs/${runId}`);
          return run.finished_at ?? undefined;
        });
        const log = await fleet.call<{ items: { stream: string; text: string }[] }>(
          'GET',
          `/runs/${runId}/logs?stream=stdout`,
        );
        return log.items[0]?.text ?? '';
      };
      return await Promise.all(Array.from({ length: count }, line));
    }

    test('every due time has an outcome after a scheduler outage of ten minutes', async () => {
      const { id: scriptId } = await fleet.call<Made>('POST', '/scripts', {
        name: 'Missed',
        max_concurrent_runs: 1000,
      });
      // The schedules become due while no scheduler is running.
      const startMs = Math.ceil((Date.now() + 60_000) / 60_000) * 60_000;
      const start_at = new Date(startMs).toISOString();
      const schedule = async (definition: object) => {
        const body = { script_id: scriptId, start_at, overlap: 'queue', ...definition };
        return (await fleet.call<Made>('POST', '/schedules', body)).id;
      };
      const all = await schedule({ kind: 'interval', interval_seconds: 20, catch_up: 'all' });
      const last = await schedule({ kind: 'cron', cron: '* * * * *', catch_up: 'last' });
      const none = await schedule({ kind: 'interval', interval_seconds: 30, catch_up: 'none' });
      const late = await schedule({
        kind: 'cron',
        cron: '* * * * *',
        catch_up: 'all',
        max_lateness_seconds: 150,
      });
      await Promise.all(fleet.of('scheduler').map((scheduler) => scheduler.end('SIGKILL')));

      const now = new Date(startMs + awayMs + 15_000);
      const [dying, one, other] = [await openOwn(), await openOwn(), await openOwn()];
      const cut = serveDueSchedules(dying, now).catch(() => undefined);
      await dying.close();
      await cut;
      for (let isMore = true; isMore;) {
        const served = await Promise.all([one, other].map((each) => serveDueSchedules(each, now)));
        isMore = served.includes(true);
      }

      const ledger = async (id: string) => {
        const { rows } = await database.pool.query<{ due_at: Date; outcome: string }>(
          'SELECT due_at, outcome FROM schedule_occurrences WHERE schedule_id = $1 ORDER BY due_at',
          [id],
        );
        return rows.map(
          ({ due_at, outcome }) => `${(due_at.getTime() - startMs) / 1000} ${outcome}`,
        );
      };
      const expected = (seconds: number, outcomeOf: (at: number) => string) =>
        Array.from({ length: awayMs / 1000 / seconds + 1 }, (_, turn) => turn * seconds).map(
          (at) => `${at} ${outcomeOf(at)}`,
        );
      expect(await ledger(all)).toEqual(expected(20, (at) => (at === 600 ? 'late' : 'caught_up')));
      expect(await ledger(last)).toEqual(expected(60, (at) => (at === 600 ? 'late' : 'missed')));
      expect(await ledger(none)).toEqual(expected(30, (at) => (at === 600 ? 'late' : 'missed')));
      expect(await ledger(late)).toEqual(
        expected(60, (at) => (at === 600 ? 'late' : at >= 480 ? 'caught_up' : 'missed')),
      );
      for (const scheduler of fleet.of('scheduler')) scheduler.start();
      await untilIdle(database.pool);
      expect(await unevenRuns(database.pool)).toEqual([]);
    });
  });
}

suite('replicas on Postgres only', false, () => Promise.resolve(undefined));
describeWith(natsService, 'replicas with NATS', () => {
  describeWith(caddyService, 'behind the front', () => {
    suite('replicas with NATS, behind the front', true, () => TestNatsServer.start());
  });
});
