/** Tests spans that scripts create in real runs. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isAlive, Product } from './testing/product.ts';
import { SdkRuns } from './testing/sdk-runs.ts';

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

describe('platform.span', { timeout: 120_000 }, () => {
  interface SpanAnswer {
    readonly span_id: string;
    readonly parent_id: string | null;
    readonly name: string;
    readonly status: string;
    readonly attributes: object;
  }
  const spansOf = async (runId: string) =>
    (await product.call<{ items: SpanAnswer[] }>('GET', `/runs/${runId}/spans`)).items;

  test('nests spans across blocks, asyncio tasks and child processes', async () => {
    const id = await runs.scriptOf(
      `import asyncio, multiprocessing
def child():
    with platform.span("child"):
        pass
async def fetch(number):
    with platform.span(f"fetch {number}", number=number) as span:
        await asyncio.sleep(0.01)
        span.set(rows=number * 10)
async def both():
    with platform.span("fetches"):
        await asyncio.gather(fetch(1), fetch(2))
def rows():
    with platform.span("closed"):
        yield 1
class Unprintable:
    def __str__(self):
        raise RuntimeError("no text")
try:
    with platform.span("failing", path=multiprocessing, big=2**60, odd=Unprintable()):
        raise KeyError("x")
except KeyError:
    pass
next(rows())
asyncio.run(both())
with platform.span("parent"):
    process = multiprocessing.get_context("fork").Process(target=child)
    process.start()
    process.join()`,
    );
    const { run_id: runId } = await runs.runOf(id);
    const spans = await spansOf(runId);
    const names = new Map(spans.map(({ span_id, name }) => [span_id, name]));
    const tree = spans.map(({ parent_id: parent, name, status }) =>
      [parent === null ? '' : names.get(parent), name, status].join('/'),
    );
    expect(tree.slice(0, 5)).toEqual(
      ['queue', 'environment', 'start', 'run', 'report'].map((name) => `/${name}/ok`),
    );
    expect(tree.slice(5).toSorted()).toEqual([
      'fetches/fetch 1/ok',
      'fetches/fetch 2/ok',
      'parent/child/ok',
      'run/closed/ok',
      'run/failing/error',
      'run/fetches/ok',
      'run/parent/ok',
    ]);
    const attributesOf = (wanted: string) => spans.find(({ name }) => name === wanted)?.attributes;
    expect(attributesOf('fetch 2')).toEqual({ number: 2, rows: 20 });
    expect(attributesOf('failing')).toEqual({
      path: expect.stringContaining('module'),
      big: String(2n ** 60n),
      odd: '<Unprintable>',
      'exception.type': 'KeyError',
    });
  });

  test('masks secrets, raises an error for invalid input, and drops spans beyond 1000', async () => {
    const id = await runs.scriptOf(
      `import time
value = platform.secrets.get("TOKEN")
with platform.span("with " + value, **{"key": value}):
    pass
for name, attributes in (("", {}), (7, {}), ("x" * 201, {}), ("a", {"n": float("nan")}), ("a", {"t": "x" * 5000})):
    try:
        platform.span(name, **attributes)
    except InvalidRequest as error:
        print(error)
started = time.perf_counter()
for number in range(1500):
    with platform.span("loop"):
        pass
platform.output(time.perf_counter() - started)`,
    );
    await product.call('PUT', `/scripts/${id}/secrets/TOKEN`, { value: 'a secret by name' });
    const { run_id: runId, texts, output } = await runs.runOf(id);
    expect(texts.toSorted()).toEqual([
      '[orchestrator] a run records at most 1000 spans; further spans are dropped',
      "the attribute 'n' is not a finite number",
      'the attributes of a span exceed 4096 bytes as JSON',
      ...Array<string>(3).fill('the name of a span must be text of 1 to 200 characters'),
    ]);
    const spans = await spansOf(runId);
    expect(spans).toHaveLength(5 + 1000);
    expect(spans.find(({ name }) => name.startsWith('with'))).toMatchObject({
      name: 'with ***',
      attributes: { key: '***' },
    });
    expect(spans.filter(({ status }) => status === 'ok')).toHaveLength(1005);
    // The script did not wait for its spans to be sent.
    expect(output).toBeLessThan(5);
  });
});
