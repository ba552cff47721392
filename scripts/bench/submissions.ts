import { performance } from 'node:perf_hooks';
import { mustParse, parseRunId, parseScriptId } from '#domain/kernel/ids.ts';
import { runScript } from '#domain/testing/samples.ts';
import { PostgresRunQueue } from '#infra/postgres/queue/run-queue.ts';
import { systemIds } from '#infra/system/ids.ts';
import { createLogger } from '#services/shared/logger.ts';
import { startLoop } from '#services/shared/loop.ts';
import type { Platform } from '#services/shared/platform.ts';
import type pg from 'pg';
import { compare } from './compare.ts';
import { context } from './context.ts';
import { makeScript } from './make-script.ts';
import { silent, type GraphileWorker } from './peers.ts';
import { median } from './report.ts';

const rounds = 7;
const submissions = 30;
const leaseSeconds = 60;

/** Measures the time from submitting a run to claiming it on an idle system. The command and the claim use separate
 *  connections, as in two processes. The result is compared with a graphile-worker job. */
export async function benchSubmissions(
  [asks, claims]: readonly [Platform, Platform],
  graphile: GraphileWorker,
  pgPool: pg.Pool,
): Promise<void> {
  const logger = silent(graphile);
  const utils = await graphile.makeWorkerUtils({ pgPool, logger });
  let started: () => void = () => undefined;
  const runner = await graphile.run({
    pgPool,
    logger,
    noHandleSignals: true,
    concurrency: 2,
    taskList: { measured: () => started() },
  });
  let claimed: () => void = () => undefined;
  const queue = new PostgresRunQueue(claims.database.pool);
  const loop = startLoop({
    name: 'claim',
    everyMs: 1_000,
    logger: createLogger('bench', 'silent'),
    runOnce: async () => {
      if ((await queue.claim('bench', 10, leaseSeconds)).length > 0) claimed();
    },
  });
  claims.bus.subscribe('queue', () => loop.wake());
  const scriptId = await makeScript(asks, mustParse(parseScriptId, systemIds.next()));
  await compare({
    figure: 'submit → claimed / graphile-worker submit → start',
    bar: '≤ 0.5',
    unit: 'ms',
    rounds,
    ours: () =>
      latency((told) => {
        claimed = told;
        const runId = mustParse(parseRunId, systemIds.next());
        return asks.commands.execute(runScript({ runId, scriptId }), context());
      }),
    theirs: () =>
      latency((told) => {
        started = told;
        return utils.addJob('measured', { scriptId });
      }),
  });
  await loop.stop();
  await runner.stop();
  await utils.release();
}

/** Returns the median time from submitting a run to claiming it. */
async function latency(submit: (told: () => void) => Promise<unknown>): Promise<number> {
  const timesMs: number[] = [];
  for (let turn = 0; turn < submissions; turn += 1) {
    const told = Promise.withResolvers<void>();
    const startedAtMs = performance.now();
    const submitted = submit(told.resolve);
    await told.promise;
    timesMs.push(performance.now() - startedAtMs);
    await submitted;
  }
  return median(timesMs);
}
