import { ObjectStoreUnavailable } from '#domain/ports/objects.ts';
import { createGroup, createScript, runScript } from '#domain/testing/samples.ts';
import { runId } from '#domain/testing/ids.ts';
import { DatabaseUnavailable } from '#infra/postgres/connection.ts';
import { PostgresRunQueue } from '#infra/postgres/queue/run-queue.ts';
import { systemIds } from '#infra/system/ids.ts';
import { openTestPlatform, type TestPlatform } from '#infra/testing/platform.ts';
import { createLogger } from '#services/shared/logger.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Execution } from './execution.ts';
import { ReportedErrors } from './reported-errors.ts';
import { LogWriter } from './logs/log-writer.ts';
import { createRunLog } from './logs/run-log.ts';
import { MemoryStore } from './logs/testing/memory-store.ts';
import { runtimeMetrics } from './metrics.ts';
import { Worker } from './worker.ts';

let platform: TestPlatform;
beforeAll(async () => {
  platform = await openTestPlatform();
  await platform.accepted(createGroup());
  await platform.accepted(createScript());
});
afterAll(() => platform.close());

const unused = () => Promise.reject(new Error('no run starts'));

/** Makes a worker claim a run whose preparation fails with this error. Resolves when the slot is free again. */
async function claimAndFail(error: Error): Promise<void> {
  const queue = new PostgresRunQueue(platform.pool);
  const logger = createLogger('test', 'silent');
  const freed = Promise.withResolvers<void>();
  const none = () => 0;
  const worker = new Worker({
    runtimeId: 'one',
    slots: 1,
    leaseSeconds: 60,
    labels: [],
    queue,
    newExecution: (run, leaseEndsAtMs) =>
      new Execution(run, leaseEndsAtMs, {
        runtimeId: 'one',
        commands: platform.commands,
        ids: systemIds,
        sandbox: { layers: [], prepare: unused, probe: unused },
        hasRoom: async () => true,
        reportedErrors: new ReportedErrors(),
        openLog: () =>
          createRunLog(
            new LogWriter({
              runId: run.runId,
              limitBytes: null,
              store: new MemoryStore(),
              clock: { now: () => new Date('2026-01-01T00:00:00Z') },
              onRetry: () => undefined,
            }),
          ),
        openSampling: () => ({ take: () => undefined, end: () => undefined }),
        prepare: () => Promise.reject(error),
        metrics: runtimeMetrics(1, {
          running: none,
          waitingQueries: none,
          abandonedQueries: none,
        }),
        clock: { now: () => new Date('2026-01-01T00:00:00Z') },
        tracing: undefined,
        onLogEnd: () => undefined,
        logger,
      }),
    onFree: freed.resolve,
    logger,
  });
  await worker.claimOnce();
  await freed.promise;
}

async function queuedRuns(): Promise<unknown[]> {
  const { rows } = await platform.pool.query(
    'SELECT run_id, owner, lease_until > now() AS delayed FROM run_queue',
  );
  return rows;
}

test.each([
  ['object store', new ObjectStoreUnavailable('no answer')],
  ['database', new DatabaseUnavailable(new Error('no answer'))],
])(
  'a run stays in the queue if the %s is unavailable during its preparation',
  async (_store, error) => {
    await platform.pool.query('DELETE FROM run_queue');
    const id = runId(error instanceof DatabaseUnavailable ? 2 : 1);
    await platform.accepted(runScript({ runId: id }));
    await claimAndFail(error);
    expect(await queuedRuns()).toEqual([{ run_id: id, owner: null, delayed: true }]);
  },
);

test('a run with damaged files fails', async () => {
  await platform.pool.query('DELETE FROM run_queue');
  await platform.accepted(runScript({ runId: runId(3) }));
  await claimAndFail(new Error('the content is damaged'));
  expect(await queuedRuns()).toEqual([]);
});
