/** Tests queueing, retries, chains and bots with the real processes. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isAlive, Product, until } from './testing/product.ts';

interface ListedRun {
  readonly run_id: string;
  readonly status: string;
  readonly started_at: string;
  readonly finished_at: string;
  readonly attempt: number;
  readonly parent_run_id: string | null;
  readonly failure_reason: string | null;
}

let product: Product;
beforeAll(async () => {
  product = await Product.start({
    variables: { ORCH_LEASE_SECONDS: '6', ORCH_RUNTIME_SLOTS: '8' },
  });
}, 120_000);
afterAll(async () => {
  const left = await product.stop();
  await product.remove();
  expect(left.filter(isAlive)).toEqual([]);
});

/** Returns a script's runs, oldest first. */
async function runsOf(scriptId: string): Promise<readonly ListedRun[]> {
  const path = `/scripts/${scriptId}/runs?limit=200`;
  const { items } = await product.call<{ items: readonly ListedRun[] }>('GET', path);
  return items.toReversed();
}

async function texts(runId: string): Promise<readonly string[]> {
  return (await product.log(runId)).map((line) => line.text);
}

describe('the runs of a script', { timeout: 120_000 }, () => {
  test('start in order when the concurrency limit delays them', async () => {
    const id = await product.script('Queue', { 'main.py': 'import time; time.sleep(0.05)\n' });
    await product.call('PATCH', `/scripts/${id}`, { max_concurrent_runs: 2 });
    const asked: string[] = [];
    for (let number = 0; number < 12; number += 1) {
      asked.push((await product.run(id, { when_busy: 'queue' })).run_id);
    }
    await Promise.all(asked.map((runId) => product.untilFinished(runId)));
    const runs = await runsOf(id);
    expect(runs.map((run) => run.status)).toEqual(runs.map(() => 'success'));
    const starts = runs.map((run) => Date.parse(run.started_at));
    for (const [index, run] of runs.entries()) {
      const at = Date.parse(run.started_at);
      const others = runs.filter(
        (other, place) =>
          place < index && Date.parse(other.started_at) <= at && Date.parse(other.finished_at) > at,
      );
      expect(others.length).toBeLessThan(2);
      // Allows for two runs that one runtime starts at nearly the same time.
      expect(Math.max(...starts.slice(0, index + 1)) - at).toBeLessThan(1000);
    }
  });

  test('start chained runs, which can read the output of the upstream run', async () => {
    const source = await product.script('Source', {
      'main.py': 'from orchestrator import *\nPlatform().output({"found": 3})\n',
    });
    const target = await product.script('Target', {
      'main.py': `import json, os
from orchestrator import *
with open(os.environ["ORCH_PAYLOAD_FILE"]) as file:
    handed = json.load(file)
Platform().output([handed["source"]["status"], handed["source"]["output"], Platform().params])
`,
    });
    const ends = { source_script_id: source, target_script_id: target };
    await product.call('POST', '/chains', { ...ends, params: { limit: 2 } });
    await product.run(source);
    const run = await until('the chained run has ended', async () => {
      const [last] = await runsOf(target);
      return last?.status === 'success' ? last : undefined;
    });
    const { output } = await product.call<{ output: unknown }>('GET', `/runs/${run.run_id}`);
    expect(output).toEqual(['success', { found: 3 }, { limit: 2 }]);
  });

  test('are retried after a failure, with the variables of their script version', async () => {
    const id = await product.script('Flaky', {
      'main.py':
        'import os, sys\nprint(os.environ["GREETING"], os.environ["ORCH_ATTEMPT"], os.environ["ORCH_TRIGGER_TYPE"])\nsys.exit(int(os.environ["ORCH_ATTEMPT"]) < 3)\n',
    });
    await product.call('PATCH', `/scripts/${id}`, {
      environment: { GREETING: 'hello' },
      retry: { max_attempts: 5, backoff_seconds: 0.1 },
    });
    const first = await product.run(id);
    await product.call('PATCH', `/scripts/${id}`, { environment: { GREETING: 'later' } });
    const runs = await until('the third attempt has ended', async () => {
      const all = await runsOf(id);
      return all.at(-1)?.status === 'success' ? all : undefined;
    });
    expect(runs.map((run) => run.attempt)).toEqual([1, 2, 3]);
    expect(runs.map((run) => run.parent_run_id)).toEqual([
      null,
      ...runs.slice(0, 2).map((run) => run.run_id),
    ]);
    expect(runs[0]?.run_id).toBe(first.run_id);
    expect(await texts(runs[2]!.run_id)).toEqual(['hello 3 retry']);
  });

  test('fail with a list of the available Python versions if the requested version is missing', async () => {
    const id = await product.script('Old', { 'main.py': 'print(1)\n' });
    await product.call('PATCH', `/scripts/${id}`, { python: '3.99' });
    const run = await product.untilFinished((await product.run(id)).run_id);
    expect(run.failure_reason).toBe('environment_error');
    expect((await texts(run.run_id)).join()).toMatch(
      /requires Python 3\.99, but this runtime has 3\.\d+/,
    );
  });
});

describe('a bot', { timeout: 120_000 }, () => {
  test('is restarted when its process or runtime is killed, until it is disabled', async () => {
    const id = await product.script('Bot', { 'main.py': 'import time; time.sleep(1000)\n' });
    await product.call('PATCH', `/scripts/${id}`, { keep_alive: true });
    const running = (count: number) =>
      until(`run ${count} is alive`, async () => {
        const runs = await runsOf(id).catch(() => []);
        return runs.length === count && runs.at(-1)?.status === 'running' ? runs : undefined;
      });
    const [first] = await running(1);
    await product.call('POST', `/runs/${first!.run_id}/stop`);
    await running(2);
    process.kill(await product.pidOf('runtime'), 'SIGKILL');
    const runs = await running(3);
    expect(runs.map((run) => run.failure_reason)).toEqual([null, 'runtime_lost', null]);
    await product.call('POST', `/scripts/${id}/disable`);
    await product.call('POST', `/runs/${runs[2]!.run_id}/stop`);
    await product.untilFinished(runs[2]!.run_id);
    expect(await runsOf(id)).toHaveLength(3);
  });
});
