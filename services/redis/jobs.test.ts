import { mustParse, parseRunId } from '#domain/kernel/ids.ts';
import { scriptId } from '#domain/testing/ids.ts';
import { readReports } from '#infra/postgres/logs/run-reports.ts';
import { PostgresRunQueue } from '#infra/postgres/queue/run-queue.ts';
import { inTransaction } from '#infra/postgres/database.ts';
import { recordedBy, userContext, untilTrue } from '#infra/testing/platform.ts';
import { findRun } from '#projections/runs/queries.ts';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { command, type RawClient, type Value } from './testing/raw-client.ts';
import { complete, jobOf, jobs, popped, push, type Job } from './testing/jobs.ts';
import { startTestAdapter, type TestAdapter } from './testing/test-adapter.ts';

let adapter: TestAdapter;
beforeAll(async () => {
  adapter = await startTestAdapter();
});
afterEach(() => adapter.clear());
afterAll(() => adapter.close());

async function runOf(id: string) {
  return (await findRun(adapter.platform.reads, mustParse(parseRunId, id)))!;
}

async function untilStarted(id: string): Promise<void> {
  await untilTrue('the run has started', async () => (await runOf(id)).status === 'running');
}

describe('a producer and a worker', () => {
  test('process a job as one run with the outcome that the worker reports', async () => {
    const [producer, worker] = [await adapter.member(), await adapter.member()];
    await worker.call('CLIENT', 'SETNAME', 'worker-1');
    expect(await push(producer, { params: { n: 1 } })).toBe(1);
    expect(await producer.call('LLEN', jobs)).toBe(1);
    const [listed] = (await producer.call('LRANGE', jobs, '0', '-1')) as readonly Value[];
    expect(jobOf(listed!)).toMatchObject({ job_id: null, params: { n: 1 } });
    const job = await popped(worker);
    expect(job).toEqual({
      job_id: expect.any(String),
      run_id: expect.any(String),
      script_id: scriptId(),
      script_version: 1,
      trigger_type: 'queue',
      params: { n: 1 },
      attempt: 1,
      enqueued_at: expect.any(String),
      lease_seconds: 60,
    });
    expect(await producer.call('LLEN', jobs)).toBe(0);
    expect(await worker.call('RPOP', jobs)).toBe(null);
    expect(await runOf(job.run_id)).toMatchObject({
      status: 'running',
      runtime_id: 'queue:worker-1',
    });
    expect(await complete(worker, job.run_id, { status: 'failed', exit_code: 3 })).toBe(0);
    const { status, exit_code, failure_reason } = await runOf(job.run_id);
    expect([status, exit_code, failure_reason]).toEqual(['failed', 3, 'exit_code']);
    expect(await complete(worker, job.run_id)).toMatch(
      /^-ERR run_fenced: You do not hold the lease/,
    );
  });

  test.each([
    ['exit code 1', 'ValueError', { status: 'failed', exit_code: 1 }],
    ['no exit code', 'ValueError', { status: 'failed' }],
    ['exit code 3', 'exit_code', { status: 'failed', exit_code: 3 }],
  ])('record a run with a logged traceback and %s as %s', async (_exit, type, report) => {
    const worker = await adapter.member();
    await adapter.queueRun();
    const { run_id: runId } = await popped(worker);
    const text = `Traceback (most recent call last):
  File "/srv/worker/main.py", line 3, in <module>
    rows.load(1)
  File "/srv/worker/lib/rows.py", line 7, in load
    raise ValueError("no rows")
ValueError: no rows`;
    await worker.call('XADD', `runs:${runId}:logs`, '*', 'text', text);
    expect(await complete(worker, runId, report)).toBe(0);
    const error = (await readReports(adapter.platform.pool, [runId])).get(runId)?.error;
    expect(error?.type).toBe(type);
    if (type !== 'ValueError') return;
    expect(error).toMatchObject({
      message: 'no rows',
      source: 'log',
      frames: [
        { file: 'main.py', own: true },
        { file: 'lib/rows.py', line: 7, own: true },
      ],
    });
  });

  test('process the oldest run first, regardless of the end from which it is popped', async () => {
    const client = await adapter.member();
    const ids = [await adapter.queueRun(), await adapter.queueRun(), await adapter.queueRun()];
    ids.push(await adapter.queueRun(), await adapter.queueRun(), await adapter.queueRun());
    const listed = (await client.call('LRANGE', jobs, '0', '-1')) as readonly Value[];
    expect(listed.map((one) => jobOf(one).run_id)).toEqual(ids.toReversed());
    expect(((await client.call('LRANGE', jobs, '-1', '-1')) as Value[]).length).toBe(1);
    const move = [jobs, 'mine', 'RIGHT', 'LEFT'];
    const taken = [
      jobOf(await client.call('RPOP', jobs)),
      jobOf(await client.call('LPOP', jobs)),
      jobOf(await client.call('LMOVE', ...move)),
      jobOf(await client.call('BLMOVE', ...move, '0')),
      ...((await client.call('RPOP', jobs, '5')) as Value[]).map(jobOf),
    ];
    expect(taken.map((one) => one.run_id)).toEqual(ids);
    expect(new Set(taken.map((one) => one.job_id)).size).toBe(ids.length);
    expect(await client.call('RPOP', jobs, '5')).toBe(null);
    expect(await client.call('LMOVE', ...move)).toBe(null);
  });

  test('process each of many runs exactly once while many workers wait', async () => {
    const workers = await Promise.all(Array.from({ length: 20 }, () => adapter.member()));
    const waiting = workers.map((worker) => popped(worker));
    const ids = await Promise.all(workers.map(() => adapter.queueRun()));
    const taken = (await Promise.all(waiting)).map((one) => one.run_id);
    expect(taken.toSorted()).toEqual(ids.toSorted());
  });

  test('can use blocking pops with a timeout below one second', async () => {
    const client = await adapter.member();
    const startedMs = performance.now();
    expect(await client.call('BRPOP', jobs, 'other', '0.2')).toBe(null);
    expect(performance.now() - startedMs).toBeGreaterThanOrEqual(199);
    expect(await client.call('BLPOP', 'other', '0.05')).toBe(null);
    expect(await client.call('BLMOVE', jobs, 'mine', 'LEFT', 'LEFT', '0.05')).toBe(null);
    expect(await client.call('BRPOP', jobs, '-1')).toBe('-ERR timeout is negative');
    expect(await client.call('BRPOP', jobs, 'x')).toMatch(/^-ERR timeout is not a float/);
  });

  test('lose no run when a waiting worker disconnects, because the next worker gets the run', async () => {
    const [first, second] = [await adapter.member(), await adapter.member()];
    first.send(Buffer.concat([command(['PING']), command(['BRPOP', jobs, '0'])]));
    await first.reply();
    first.close();
    const waiting = popped(second);
    const id = await adapter.queueRun();
    expect((await waiting).run_id).toBe(id);
  });

  test('share one run per idempotency key, and get an error for another job with the same key', async () => {
    const client = await adapter.member();
    const keyed = { idempotency_key: 'order 17', params: { n: 1 } };
    expect(await push(client, keyed)).toBe(1);
    expect(await push(client, keyed)).toBe(1);
    expect(await push(client, { ...keyed, params: { n: 2 } })).toMatch(
      /idempotency key was already used/,
    );
  });
});

describe('a token of one group', () => {
  test('cannot see the runs of other groups', async () => {
    const client = await adapter.openUnauthenticated();
    await client.call('AUTH', await adapter.token(['runs:write'], { groups: [2] }));
    const hidden = await adapter.queueRun(1);
    expect(await client.call('LLEN', jobs)).toBe(0);
    expect(await client.call('RPOP', jobs)).toBe(null);
    expect(await push(client, {})).toMatch(/^-ERR not_found/);
    const own = await adapter.queueRun(2);
    expect((await popped(client)).run_id).toBe(own);
    expect(await client.call('TYPE', `runs:${hidden}:logs`)).toBe('none');
    expect(await complete(client, hidden)).toMatch(/^-ERR run_fenced/);
  });

  test('receives no job if it is revoked while its client waits', async () => {
    const client = await adapter.openUnauthenticated();
    await client.call('AUTH', await adapter.token(['runs:write']));
    client.send(command(['BRPOP', jobs, '0']));
    await adapter.platform.pool.query('UPDATE api_tokens SET revoked_at = now()');
    const id = await adapter.queueRun();
    expect(await client.reply()).toMatch(/^-NOAUTH/);
    expect((await popped(await adapter.member())).run_id).toBe(id);
  });
});

describe('a run that a worker has popped', () => {
  let worker: RawClient;
  let job: Job;
  beforeEach(async () => {
    worker = await adapter.member();
    await adapter.queueRun();
    job = await popped(worker);
    await untilStarted(job.run_id);
  });
  const lease = () => `runs:${job.run_id}:lease`;

  test('stays leased while its worker renews the lease', async () => {
    expect(await worker.call('TTL', lease())).toBeGreaterThan(50);
    expect(await worker.call('EXPIRE', lease(), '600')).toBe(1);
    expect(await worker.call('TTL', lease())).toBeGreaterThan(500);
    expect(await worker.call('EXISTS', lease(), jobs)).toBe(1);
    expect(await worker.call('TYPE', lease())).toBe('string');
    expect(await worker.call('KEYS', '*:lease')).toEqual([lease()]);
    expect(await worker.call('SCAN', '0', 'MATCH', '*:logs')).toEqual([
      '0',
      [`runs:${job.run_id}:logs`],
    ]);
    const other = await adapter.openUnauthenticated();
    await other.call('AUTH', await adapter.token(['*']));
    expect(await other.call('EXPIRE', lease(), '600')).toBe(0);
    expect(await other.call('TTL', lease())).toBe(-2);
    expect(await complete(other, job.run_id)).toMatch(/^-ERR run_fenced/);
    expect(await worker.call('EXPIRE', lease(), '0')).toMatch(/^-ERR invalid expire time/);
    expect(await worker.call('EXPIRE', 'other', '5')).toBe(0);
  });

  test('stays leased when its worker opens a new connection', async () => {
    worker.close();
    const again = await adapter.member();
    expect(await again.call('EXPIRE', lease(), '60')).toBe(1);
    expect(await complete(again, job.run_id, { job_id: job.job_id })).toBe(0);
  });

  test('cannot be reported with another lease', async () => {
    expect(await complete(worker, job.run_id, { job_id: scriptId() })).toMatch(/^-ERR run_fenced/);
    expect(await complete(worker, job.run_id, { script_id: scriptId(2) })).toMatch(
      /^-ERR run_fenced/,
    );
    expect(await complete(worker, job.run_id, { status: 'done' })).toMatch(
      /^-ERR validation_failed/,
    );
    expect((await runOf(job.run_id)).status).toBe('running');
  });

  test('cannot be renewed after a stop request, and is then recorded as stopped', async () => {
    const runId = mustParse(parseRunId, job.run_id);
    recordedBy(await adapter.commands.execute({ type: 'StopRun', runId }, userContext()));
    expect(await worker.call('EXPIRE', lease(), '60')).toBe(0);
    expect(await complete(worker, job.run_id, { status: 'stopped' })).toBe(0);
    expect((await runOf(job.run_id)).status).toBe('stopped');
  });

  test('is lost when its lease expires, and is not delivered again', async () => {
    await adapter.platform.pool.query(`UPDATE run_queue SET lease_until = now() - interval '1 s'`);
    const lost = await new PostgresRunQueue(adapter.platform.pool).lost(10);
    expect(lost).toMatchObject([{ runId: job.run_id }]);
    expect(await worker.call('EXPIRE', lease(), '60')).toBe(0);
    expect(await complete(worker, job.run_id)).toMatch(/^-ERR run_fenced/);
    expect(await worker.call('RPOP', jobs)).toBe(null);
  });
});

test('the first report on a run also records the start if a crash prevented an earlier record', async () => {
  const worker = await adapter.member();
  const id = await adapter.queueRun();
  const [claimed] = await new PostgresRunQueue(adapter.platform.pool).claim(
    'queue:service:a-job',
    1,
    60,
  );
  expect(claimed?.runId).toBe(id);
  expect((await runOf(id)).status).toBe('queued');
  expect(await worker.call('EXPIRE', `runs:${id}:lease`, '60')).toBe(1);
  expect((await runOf(id)).status).toBe('running');
  expect(await complete(worker, id, { job_id: 'a-job' })).toBe(0);
  expect((await runOf(id)).status).toBe('success');
});

test('a claimed job returns to the queue if its client disconnects before the delivery', async () => {
  const [first, other] = [await adapter.member(), await adapter.member()];
  await push(other, { params: { n: 1 } });
  await inTransaction(adapter.platform.pool, async (client) => {
    // Blocks the delivery, which reads the run's parameters from this table.
    await client.query('LOCK TABLE payloads');
    first.send(command(['RPOP', jobs]));
    await untilTrue('it is claimed', async () => (await other.call('LLEN', jobs)) === 0);
    first.close();
    await first.rest();
    // When these commands have been answered, the adapter has processed the disconnection.
    for (let asked = 0; asked < 3; asked += 1) await other.call('PING');
  });
  await untilTrue('it is back', async () => (await other.call('LLEN', jobs)) === 1);
  const job = await popped(other);
  await untilStarted(job.run_id);
  const { rows } = await adapter.platform.pool.query(
    `SELECT count(*) AS starts FROM events WHERE type = 'RunStarted' AND stream_id = $1`,
    [`run-${job.run_id}`],
  );
  expect(rows).toEqual([{ starts: 1 }]);
});
