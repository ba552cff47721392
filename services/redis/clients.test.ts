import { mustParse, parseRunId } from '#domain/kernel/ids.ts';
import { scriptId } from '#domain/testing/ids.ts';
import { untilTrue } from '#infra/testing/platform.ts';
import { findRun } from '#projections/runs/queries.ts';
import { Redis } from 'ioredis';
import { createClient } from 'redis';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { describeWith } from '../../scripts/testing/optional-service.ts';
import { goRedis, output, redisProgram, redisPy } from './testing/programs.ts';
import { jobs } from './testing/jobs.ts';
import { password, startTestAdapter, type TestAdapter } from './testing/test-adapter.ts';

let adapter: TestAdapter;
beforeAll(async () => {
  adapter = await startTestAdapter();
});
const leaving: (() => void)[] = [];
afterEach(async () => {
  for (const leave of leaving.splice(0)) leave();
  await adapter.clear();
});
afterAll(() => adapter.close());

const job = JSON.stringify({ script_id: scriptId(), params: { n: 1 } });

async function statusOf(runId: string): Promise<string | undefined> {
  return (await findRun(adapter.platform.reads, mustParse(parseRunId, runId)))?.status;
}

function completed(runId: string): string {
  return JSON.stringify({ run_id: runId, status: 'success' });
}

describe('ioredis', () => {
  test('queues, claims and follows a run, and stays in sync after errors', async () => {
    const options = { port: adapter.port, password, connectionName: 'worker' };
    const clients = [new Redis(options), new Redis(options), new Redis(options)] as const;
    leaving.push(...clients.map((one) => () => one.disconnect()));
    const [client, worker, listener] = clients;
    const heard = new Promise<string>((resolve) =>
      listener.once('message', (_, text) => resolve(text)),
    );
    await listener.subscribe('script.completed');
    const waiting = worker.brpop(jobs, 0);
    expect(await client.lpush(jobs, job)).toBe(1);
    const [, taken = ''] = (await waiting) ?? [];
    const { run_id: runId } = JSON.parse(taken) as { run_id: string };
    const logs = `runs:${runId}:logs`;
    expect(await client.xadd(logs, '*', 'text', 'hello')).toBe('1-0');
    expect(await client.expire(`runs:${runId}:lease`, 60)).toBe(1);
    const [[, entries] = []] = (await client.xread('BLOCK', 100, 'STREAMS', logs, '0')) ?? [];
    expect(entries?.[0]?.[1]).toContain('hello');
    expect(await client.publish('script.completed', completed(runId))).toBe(1);
    expect(JSON.parse(await heard)).toMatchObject({ run_id: runId, status: 'success' });
    const replies = await client.pipeline().llen(jobs).ping().xlen(logs).exec();
    expect(replies).toEqual([
      [null, 0],
      [null, 'PONG'],
      [null, 1],
    ]);
    const committed = await client.multi().lpush(jobs, job).llen(jobs).rpop(jobs).exec();
    expect(committed?.map(([error]) => error)).toEqual([null, null, null]);
    await expect(client.multi().llen(jobs).get('x').exec()).rejects.toThrow('EXECABORT');
    await expect(client.get('x')).rejects.toThrow("unknown command 'get'");
    expect(await client.echo('in sync')).toBe('in sync');
  });
});

describe.each([2, 3] as const)('node-redis with RESP%i', (RESP) => {
  test('queues, claims and follows a run, and stays in sync after errors', async () => {
    const client = createClient({ url: `redis://:${password}@127.0.0.1:${adapter.port}`, RESP });
    const others = [client.duplicate(), client.duplicate()] as const;
    const [worker, listener] = others;
    leaving.push(...[client, ...others].map((one) => () => one.destroy()));
    for (const one of [client, ...others]) await one.on('error', () => undefined).connect();
    const { promise: heard, resolve } = Promise.withResolvers<string>();
    await listener.pSubscribe('script.*', (text) => resolve(text));
    const waiting = worker.brPop(jobs, 0);
    expect(await client.lPush(jobs, job)).toBe(1);
    const taken = await waiting;
    const { run_id: runId } = JSON.parse(taken?.element ?? '') as { run_id: string };
    const logs = `runs:${runId}:logs`;
    expect(await client.xAdd(logs, '*', { text: 'hello' })).toBe('1-0');
    expect(await client.expire(`runs:${runId}:lease`, 60)).toBe(1);
    const entries = await client.xRange(logs, '-', '+');
    expect(entries?.[0]).toMatchObject({ id: '1-0', message: { stream: 'stdout', text: 'hello' } });
    expect(await client.publish('script.completed', completed(runId))).toBe(1);
    expect(JSON.parse(await heard)).toMatchObject({ run_id: runId, status: 'success' });
    expect(await client.lMove(jobs, 'mine', 'RIGHT', 'LEFT')).toBe(null);
    expect(await client.type(logs)).toBe('stream');
    const [, length, popped] = await client.multi().lPush(jobs, job).lLen(jobs).rPop(jobs).exec();
    expect([length, typeof popped]).toEqual([1, 'string']);
    expect(await client.xInfoStream(logs)).toMatchObject({ length: 1, 'last-generated-id': '1-0' });
    await expect(client.multi().lLen(jobs).get('x').exec()).rejects.toThrow('unknown command');
    await expect(client.get('x')).rejects.toThrow('unknown command');
    expect(await client.echo('in sync')).toBe('in sync');
  });
});

describeWith(redisProgram('redis-cli'), 'redis-cli', () => {
  const cli = async (...args: readonly string[]) => {
    const { found = '' } = redisProgram('redis-cli');
    const own = ['-p', String(adapter.port), ...args];
    return (await output(found, own, { REDISCLI_AUTH: password })).trim();
  };

  test.each([['-2'], ['-3']])(
    'queues and claims a run, and reads its log, with option %s',
    async (version) => {
      expect(await cli(version, 'PING')).toBe('PONG');
      expect(await cli(version, 'LPUSH', jobs, job)).toBe('1');
      const [key, taken = ''] = (await cli(version, 'BRPOP', jobs, '1')).split('\n');
      expect(key).toBe(jobs);
      const { run_id: runId } = JSON.parse(taken) as { run_id: string };
      expect(await cli(version, 'XADD', `runs:${runId}:logs`, '*', 'text', 'hello')).toBe('1-0');
      expect(await cli(version, 'XREAD', 'STREAMS', `runs:${runId}:logs`, '0')).toContain('hello');
      expect(await cli(version, 'EXPIRE', `runs:${runId}:lease`, '60')).toBe('1');
      expect(await cli(version, 'PUBLISH', 'script.completed', completed(runId))).toBe('0');
      expect(await statusOf(runId)).toBe('success');
      expect(await cli(version, 'LPUSH', jobs, '{}')).toContain('"script_id" is required');
    },
  );
});

describeWith(redisProgram('redis-benchmark'), 'redis-benchmark', () => {
  const benchmark = async (...args: readonly string[]) => {
    const { found = '' } = redisProgram('redis-benchmark');
    const own = ['-p', String(adapter.port), '-a', password, '--csv', '-e', ...args];
    return await output(found, own);
  };

  test('gets replies to inline and array forms of PING', async () => {
    const text = await benchmark('-t', 'ping', '-n', '5000', '-P', '16');
    expect(text).toContain('PING_INLINE');
    expect(text).toContain('PING_MBULK');
    expect(text).not.toContain('rror');
  });

  test('claims exactly the jobs that are pushed concurrently', async () => {
    const load = ['-n', '200', '-c', '8'];
    const [given, taken] = await Promise.all([
      benchmark(...load, 'LPUSH', jobs, job),
      benchmark(...load, 'BRPOP', jobs, '0'),
    ]);
    expect(`${given}${taken}`).not.toContain('rror');
    await untilTrue('all have started, and none is left', async () => {
      const { rows } = await adapter.platform.pool.query<{ started: number; count: number }>(
        `SELECT count(*) FILTER (WHERE fence IS NOT NULL) AS started, count(*) FROM run_queue`,
      );
      return rows[0]?.started === 200 && rows[0].count === 200;
    });
  });
});

const pythonProgram = `
import json, sys, threading, redis
port, password, script, protocol = int(sys.argv[1]), sys.argv[2], sys.argv[3], int(sys.argv[4])
queue = redis.Redis(port=port, password=password, protocol=protocol, decode_responses=True)
heard = queue.pubsub(ignore_subscribe_messages=True)
heard.subscribe("script.completed")
heard.get_message(timeout=5)
queue.lpush("runtime:jobs", json.dumps({"script_id": script}))
assert queue.llen("runtime:jobs") == 1
key, text = queue.brpop("runtime:jobs", timeout=5)
run = json.loads(text)["run_id"]
assert queue.xadd(f"runs:{run}:logs", {"text": "hello"}) == "1-0"
entries = queue.xread({f"runs:{run}:logs": 0}, block=100)
assert "hello" in str(entries), entries
assert queue.expire(f"runs:{run}:lease", 60)
assert queue.publish("script.completed", json.dumps({"run_id": run, "status": "success"})) == 1
message = None
while message is None:
    message = heard.get_message(timeout=5)
assert json.loads(message["data"])["run_id"] == run
pipe = queue.pipeline(transaction=False)
assert pipe.ping().llen("runtime:jobs").execute() == [True, 0]
pipe = queue.pipeline()
pushed, length, popped = pipe.lpush("runtime:jobs", json.dumps({"script_id": script})).llen("runtime:jobs").rpop("runtime:jobs").execute()
assert (pushed, length) == (1, 1) and json.loads(popped)["script_id"] == script
assert queue.xinfo_stream(f"runs:{run}:logs")["length"] == 1
assert queue.xrevrange(f"runs:{run}:logs", count=1)[0][0] == "1-0"
assert queue.pubsub_numsub("script.completed")[0][1] == 1
for wrong in (lambda: queue.get("x"), lambda: queue.pipeline().ping().get("x").execute()):
    try:
        wrong()
        raise SystemExit("not refused")
    except redis.ResponseError as error:
        assert "unknown command" in str(error), error
    assert queue.echo("in sync") == "in sync"
print(run)
`;

describeWith(redisPy(), 'redis-py', () => {
  test.each(['2', '3'])('queues, claims and follows a run with RESP%s', async (version) => {
    const { found = '' } = redisPy();
    const args = ['-c', pythonProgram, String(adapter.port), password, scriptId(), version];
    expect(await statusOf((await output(found, args)).trim())).toBe('success');
  });
});

describeWith(goRedis(), 'go-redis', () => {
  test.each(['2', '3'])(
    'uses pipelines, transactions, streams and channels with RESP%s, and stays in sync after errors',
    async (version) => {
      const { found = '' } = goRedis();
      const args = [String(adapter.port), password, scriptId(), version];
      expect(await statusOf((await output(found, args)).trim())).toBe('success');
    },
  );
});
