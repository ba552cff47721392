/** Measures the dashboard's log viewer in a real browser, with two million lines and with a flood of output. */
import { performance } from 'node:perf_hooks';
import type { Page } from 'playwright-core';
import { Browsing } from '../../web/e2e/testing/browsing.ts';
import type { Product } from '#services/minimal/testing/product.ts';
import { framesWhile, heapOf, words } from './frames.ts';
import { row } from './report.ts';

const manyLines = 2_000_000;
const [floodLines, floodSeconds] = [20_000, 10];
/** The size of a log of two million lines, with a margin. */
const logBytes = 200 * 1024 * 1024;
const scrollMs = 5000;
const timeoutMs = 300_000;

const many = `import sys
for start in range(0, ${manyLines}, 1000):
    sys.stdout.write("".join(f"line {n}\\n" for n in range(start, start + 1000)))
`;
const flood = `import sys, time
begin = time.monotonic()
for tick in range(${floodSeconds * 20}):
    sys.stdout.write("".join(f"tick {tick} line {n}\\n" for n in range(${floodLines / 20})))
    sys.stdout.flush()
    time.sleep(max(0, begin + (tick + 1) / 20 - time.monotonic()))
`;

export async function benchLogViewer(product: Product): Promise<void> {
  const browsing = await Browsing.start();
  const { page } = browsing;
  page.setDefaultTimeout(timeoutMs);
  try {
    await browsing.signIn(`${product.baseUrl}/runs`);
    await showMany(product, page);
    await showFlood(product, page);
  } finally {
    await browsing.close();
  }
}

async function showMany(product: Product, page: Page): Promise<void> {
  const runId = await runOf(product, 'two million lines', many);
  await product.untilFinished(runId);
  const startedMs = performance.now();
  await page.goto(`${product.baseUrl}/runs/${runId}`);
  await page.getByText(`line ${manyLines - 1}`, { exact: true }).waitFor();
  row('2 million lines: page opened to the last line shown', `${since(startedMs)} ms`, '≤ 2000 ms');
  const scrolled = await framesWhile(page, async () => {
    const log = page.getByRole('region', { name: 'Log', exact: true });
    await log.last().hover();
    for (const until = performance.now() + scrollMs; performance.now() < until;) {
      await page.mouse.wheel(0, -4000);
    }
  });
  row('2 million lines: frames while scrolling', words(scrolled), '99 of 100 ≤ 50 ms');
  const toStartMs = performance.now();
  await page.evaluate(`for (const one of document.querySelectorAll('[role=region][aria-label=Log]'))
    one.scrollTop = 0;`);
  await page.getByText('line 0', { exact: true }).waitFor();
  row('2 million lines: from the end to the first line', `${since(toStartMs)} ms`, '≤ 1000 ms');
  row('2 million lines: JavaScript heap', await heapOf(page), '≤ 100 MB');
}

async function showFlood(product: Product, page: Page): Promise<void> {
  const runId = await runOf(product, 'flood', flood);
  await page.goto(`${product.baseUrl}/runs/${runId}`);
  await page
    .getByText(/^tick \d+ line/)
    .first()
    .waitFor();
  const last = page.getByText(`tick ${floodSeconds * 20 - 1} line ${floodLines / 20 - 1}`, {
    exact: true,
  });
  const followed = await framesWhile(page, () => last.waitFor());
  row(`${floodLines} lines a second: frames while following`, words(followed), '99 of 100 ≤ 50 ms');
  row(`${floodLines} lines a second: JavaScript heap`, await heapOf(page), '≤ 100 MB');
}

async function runOf(product: Product, name: string, source: string): Promise<string> {
  const id = await product.script(name, { 'main.py': source });
  await product.call('PATCH', `/scripts/${id}`, { limits: { log_bytes: logBytes } });
  return (await product.run(id)).run_id;
}

const since = (startedMs: number): number => Math.round(performance.now() - startedMs);
