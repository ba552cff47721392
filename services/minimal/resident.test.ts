/** Tests resident handlers in the whole product. */
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { describeWith } from '../../scripts/testing/optional-service.ts';
import { namespaces } from '../runtime/sandbox/testing/machine.ts';
import { isAlive, Product } from './testing/product.ts';
import { SdkRuns } from './testing/sdk-runs.ts';

vi.setConfig({ testTimeout: 120_000 });

let product: Product;
let runs: SdkRuns;
beforeAll(async () => {
  product = await Product.start();
  runs = new SdkRuns(product);
}, 120_000);
afterAll(async () => {
  const left = await product.stop();
  await product.remove();
  expect(left.filter(isAlive)).toEqual([]);
});

const settings = { start_mode: 'resident' };
const scriptOf = (code: string, files: Readonly<Record<string, string>> = {}) =>
  product.script('Resident', { 'main.py': code, ...files }, settings);

const counting = `calls = 0

def handler(event, context):
    global calls
    calls += 1
    print("hello", event["params"].get("name"), context.run_id is not None)
    return {"calls": calls, "run_id": context.run_id}
`;

describeWith(namespaces, 'on a machine with namespaces', () => {
  test('one process serves several runs, each with its own log, output and parameters', async () => {
    const id = await scriptOf(counting);
    for (const [index, name] of ['Ada', 'Grace'].entries()) {
      const { output, texts, run_id: runId } = await runs.runOf(id, { params: { name } });
      expect(texts).toEqual([`hello ${name} True`]);
      expect(output).toEqual({ calls: index + 1, run_id: runId });
    }
  });

  test('saving a file or changing a setting causes the next run to start a new process', async () => {
    const id = await scriptOf(counting);
    const calls = async () => ((await runs.runOf(id)).output as { calls: number }).calls;
    expect([await calls(), await calls()]).toEqual([1, 2]);
    const content = `${counting}# saved\n`;
    await product.call('PUT', `/scripts/${id}/files/main.py`, { content, encoding: 'utf-8' });
    expect([await calls(), await calls()]).toEqual([1, 2]);
    await product.call('PATCH', `/scripts/${id}`, { environment: { TZ: 'Europe/Berlin' } });
    expect([await calls(), await calls()]).toEqual([1, 2]);
  });
});

test('a secret that a run has read stays masked in later runs, and a new value causes a new process', async () => {
  const id = await scriptOf(`kept = []

def handler(event, context):
    if not kept:
        kept.append(context.platform.secrets.get("TOKEN"))
    print("kept", kept[0])
    return len(kept[0])
`);
  const secret = `/scripts/${id}/secrets/TOKEN`;
  await product.call('PUT', secret, { value: 'the first value' });
  expect((await runs.runOf(id)).texts).toEqual(['kept ***']);
  expect((await runs.runOf(id)).texts).toEqual(['kept ***']);
  await product.call('PUT', secret, { value: 'another, longer value' });
  const { texts, output } = await runs.runOf(id);
  expect([texts, output]).toEqual([['kept ***'], 'another, longer value'.length]);
});

test.each([
  [
    'defines no handler',
    'x = 1\n',
    /main\.py defines no handler\. Add the function: def handler\(event, context\)/,
  ],
  [
    'has a handler with the wrong signature',
    'def handler(): pass\n',
    /Change its signature to: def handler\(event, context\)/,
  ],
  [
    'returns a value that is not JSON',
    'def handler(e, c): return {1}\n',
    /handler returned set, .* Return None or a JSON value/,
  ],
  [
    'cannot be imported',
    'import no_such_module\n',
    /ModuleNotFoundError: No module named 'no_such_module'/,
  ],
])('a script that %s fails with a clear error', async (_, code, message) => {
  const { run_id: runId } = await product.run(await scriptOf(code));
  expect(await product.untilFinished(runId)).toMatchObject({
    status: 'failed',
    failure_reason: 'exit_code',
    exit_code: 1,
  });
  const texts = (await product.log(runId)).map(({ text }) => text);
  expect(texts.join('\n')).toMatch(message);
});

test('the error of a handler that exits shows the call stack and the exception that led to the exit', async () => {
  const id = await scriptOf(`def handler(event, context):
    try:
        {}["day"]
    except KeyError as error:
        raise SystemExit(3) from error
`);
  const { run_id: runId } = await product.run(id);
  expect(await product.untilFinished(runId)).toMatchObject({
    exit_code: 3,
    error: {
      type: 'SystemExit',
      message: "exit code 3: KeyError: 'day'",
      frames: [{ file: 'main.py', line: 5, function: 'handler' }],
      causes: [{ relation: 'cause', type: 'KeyError', frames: [{ line: 3 }] }],
    },
  });
});

test('an async handler keeps its event loop between runs', async () => {
  const id = await scriptOf(`import asyncio

loops = set()

async def handler(event, context):
    await asyncio.sleep(0)
    loops.add(id(asyncio.get_running_loop()))
    context.platform.progress(1, "done")
    return [len(loops), context.deadline.tzinfo is not None]
`);
  expect((await runs.runOf(id)).output).toEqual([1, true]);
  expect((await runs.runOf(id)).output).toEqual([1, true]);
});

test('stopping a run ends its process, and the next run starts a new process', async () => {
  const id = await scriptOf(`import time
calls = 0

def handler(event, context):
    global calls
    calls += 1
    print("started", flush=True)
    time.sleep(event["params"].get("seconds", 0))
    return calls
`);
  expect((await runs.runOf(id)).output).toBe(1);
  const { run_id: runId } = await product.run(id, { params: { seconds: 600 } });
  await vi.waitUntil(async () => (await product.log(runId)).length > 0, { timeout: 60_000 });
  await product.call('POST', `/runs/${runId}/stop`);
  expect(await product.untilFinished(runId)).toMatchObject({ status: 'stopped' });
  expect((await runs.runOf(id)).output).toBe(1);
});

test('a handler receives the webhook request that started its run', async () => {
  const id = await scriptOf(`import json

def handler(event, context):
    payload = event["payload"]
    return [json.loads(payload["body"]), payload["headers"]["content-type"]]
`);
  const made = await product.call<{ url: string }>('POST', '/webhooks', {
    name: 'hook',
    script_id: id,
  });
  const { pathname } = new URL(made.url, product.baseUrl);
  const answer = await fetch(`${product.baseUrl}${pathname}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"order": 7}',
  });
  const { run_id: runId } = (await answer.json()) as { run_id: string };
  expect((await runs.ended(runId)).output).toEqual([{ order: 7 }, 'application/json']);
});
