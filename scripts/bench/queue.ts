import { performance } from 'node:perf_hooks';
import type { Command, Recorded } from '#domain/aggregates.ts';
import { startOfStore } from '#domain/kernel/event.ts';
import type { RunId } from '#domain/kernel/ids.ts';
import { scriptId } from '#domain/testing/ids.ts';
import { finishRun, runFinished } from '#domain/testing/samples.ts';
import { newEvent } from '#infra/conformance/event-store.ts';
import { PostgresRunQueue } from '#infra/postgres/queue/run-queue.ts';
import { runQueueProjection } from '#projections/run-queue/apply.ts';
import type { Platform } from '#services/shared/platform.ts';
import pg from 'pg';
import { compare, perSecond } from './compare.ts';
import { context } from './context.ts';
import { onDatabase, platformOn } from './database.ts';
import { makeRuns } from './history.ts';
import { makeScript } from './make-script.ts';
import { graphileWorker, silent, type GraphileWorker } from './peers.ts';
import { benchSubmissions } from './submissions.ts';

const jobs = 2_000;
/** The batch size of claims on both sides. In measurements, this size was the best for graphile-worker. */
const batch = 500;
const graphileConcurrency = 24;
const rounds = 7;
const leaseSeconds = 60;

/** Compares the run queue with graphile-worker on the same database server. */
export function benchQueue(): Promise<void> {
  return onDatabase(async (database) => {
    const graphile = await graphileWorker();
    const platforms = [await platformOn(database, 6), await platformOn(database, 6)] as const;
    const pgPool = new pg.Pool({ connectionString: database.adminUrl, max: 10 });
    pgPool.on('error', () => undefined);
    pgPool.on('connect', (client) => client.on('error', () => undefined));
    try {
      await benchBatches(platforms[0], graphile, pgPool);
      await benchSubmissions(platforms, graphile, pgPool);
    } finally {
      for (const platform of platforms) await platform.close();
      await pgPool.end();
    }
  });
}

async function benchBatches(
  platform: Platform,
  graphile: GraphileWorker,
  pgPool: pg.Pool,
): Promise<void> {
  const { pool } = platform.database;
  await makeScript(platform, scriptId());
  const utils = await graphile.makeWorkerUtils({ pgPool, logger: silent(graphile) });
  await utils.migrate();
  await utils.release();
  const peer = {
    unit: '/s',
    rounds,
    theirs: () => graphileBatches(graphile, pgPool),
  };
  await compare({
    figure: 'claims and completions/s, batched / graphile-worker batched',
    bar: '≥ 3',
    ours: async () => {
      const ends = new Map((await makeRuns(pool, jobs, 'queued')).map((id) => [id, endOf(id)]));
      return await perSecond(jobs, () =>
        claimAll(pool, (runIds) =>
          runQueueProjection.apply(
            platform.reads,
            runIds.flatMap((runId) => ends.get(runId) ?? []),
          ),
        ),
      );
    },
    ...peer,
  });
  await compare({
    figure: 'the same, with the commands and events of each run',
    bar: '–',
    ours: async () => {
      await makeRuns(pool, jobs, 'queued');
      return await perSecond(jobs, () => claimAll(pool, (runIds) => complete(platform, runIds)));
    },
    ...peer,
  });
}

/** Claims runs until the queue is empty. Completes each batch before it claims the next. */
async function claimAll(
  pool: pg.Pool,
  completeAll: (runIds: readonly RunId[]) => Promise<void>,
): Promise<void> {
  const queue = new PostgresRunQueue(pool);
  for (let done = 0; done < jobs;) {
    const claimed = await queue.claim('bench', batch, leaseSeconds);
    if (claimed.length === 0) throw new Error(`only ${done} of ${jobs} runs could be claimed`);
    await completeAll(claimed.map((run) => run.runId));
    done += claimed.length;
  }
}

/** Returns the event that removes a run from the queue. */
function endOf(runId: RunId): Recorded {
  const { type, data } = runFinished({ runId });
  const place = { streamId: `run-${runId}`, version: 2, position: startOfStore };
  return { ...newEvent(type, data), ...place, recordedAt: new Date() } as Recorded;
}

async function complete({ commands }: Platform, runIds: readonly RunId[]): Promise<void> {
  const each = (command: (runId: RunId) => Command) =>
    Promise.all(runIds.map((runId) => commands.execute(command(runId), context())));
  await each((runId) => ({ type: 'StartRun', runId, runtimeId: 'bench', layers: ['rlimits'] }));
  await each((runId) => finishRun({ runId }));
}

/** Measures the time from the start of the first job until graphile-worker has stored the completion of the last
 *  job. */
async function graphileBatches(graphile: GraphileWorker, pgPool: pg.Pool): Promise<number> {
  await addJobs(pgPool);
  const done = Promise.withResolvers<void>();
  let startedAtMs = 0;
  let left = jobs;
  const runner = await graphile.run({
    pgPool,
    logger: silent(graphile),
    noHandleSignals: true,
    preset: {
      worker: {
        concurrentJobs: graphileConcurrency,
        localQueue: { size: batch },
        completeJobBatchDelay: 0,
      },
    },
    taskList: {
      measured: () => {
        startedAtMs ||= performance.now();
        left -= 1;
        if (left === 0) done.resolve();
      },
    },
  });
  await done.promise;
  await runner.stop();
  return (jobs * 1000) / (performance.now() - startedAtMs);
}

async function addJobs(pgPool: pg.Pool): Promise<void> {
  await pgPool.query(
    `SELECT count(*) FROM graphile_worker.add_jobs(ARRAY(
      SELECT json_populate_record(NULL::graphile_worker.job_spec,
        '{"identifier": "measured", "payload": {"scriptId": "01a1ffb3-9e8c-776f-b35a-a20dc1bf69fa"}}')
      FROM generate_series(1, $1)))`,
    [jobs],
  );
}
