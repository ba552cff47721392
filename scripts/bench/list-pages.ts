/** Measures the dashboard's lists in a real browser, with many scripts and runs: first paint, sort orders and
 *  scrolling. */
import { performance } from 'node:perf_hooks';
import { join } from 'node:path';
import { embeddedAddresses } from '#infra/embedded/postgres.ts';
import type { Page } from 'playwright-core';
import { Browsing } from '../../web/e2e/testing/browsing.ts';
import type { Product } from '#services/minimal/testing/product.ts';
import { framesWhile, heapOf, words } from './frames.ts';
import { addRuns } from './long-history.ts';
import { median, row } from './report.ts';

const size = { scripts: 10_000, runs: Number(process.env['ORCH_BENCH_RUNS'] ?? 1_000_000) };
const rounds = 5;
/** The number of rows to load and scroll. */
const scrolledRows = 1000;
const timeoutMs = 120_000;

export async function benchListPages(product: Product): Promise<void> {
  const url = embeddedAddresses(join(product.dataDir, 'postgres'))?.adminUrl;
  if (url === undefined) throw new Error('there is no database');
  await addRuns(url, size);
  const browsing = await Browsing.start();
  const { page } = browsing;
  page.setDefaultTimeout(timeoutMs);
  try {
    await browsing.signIn(product.baseUrl);
    for (const [name, path] of lists) await open(page, name, product.baseUrl + path);
    for (const path of ['/runs', '/scripts']) await scroll(page, path, product.baseUrl);
  } finally {
    await browsing.close();
  }
}

const lists = [
  ['runs', '/runs'],
  ['runs, failed', '/runs?status=failed'],
  ['runs of a text in 1,000 names', '/runs?q=price'],
  ['runs by duration', '/runs?sort=-duration'],
  ['runs by script, failed', '/runs?sort=script&status=failed'],
  ['scripts', '/scripts'],
  ['scripts by name', '/scripts?sort=name'],
  ['scripts with a text in 1,000 names', '/scripts?q=price'],
] as const;

const firstRow = (page: Page) => page.getByRole('main').locator('tbody tr a').first();

/** Measures the time from navigation to the first paint and to the first row. */
async function open(page: Page, name: string, url: string): Promise<void> {
  const [paints, rows]: [number[], number[]] = [[], []];
  for (let round = 0; round < rounds; round += 1) {
    await page.goto('about:blank');
    const startedMs = performance.now();
    await page.goto(url);
    await firstRow(page).waitFor();
    rows.push(performance.now() - startedMs);
    paints.push(
      await page.evaluate<number>(
        `performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? 0`,
      ),
    );
  }
  const figures = `${Math.round(median(paints))} ms, ${Math.round(median(rows))} ms`;
  row(`list of ${name}: first paint, first row`, figures, '–');
}

async function scroll(page: Page, path: string, baseUrl: string): Promise<void> {
  await page.goto(baseUrl + path);
  await firstRow(page).waitFor();
  const rows = page.getByRole('main').locator('tbody tr');
  const startedMs = performance.now();
  while ((await rows.count()) < scrolledRows) {
    const before = await rows.count();
    await page.getByRole('button', { name: 'Load more' }).scrollIntoViewIfNeeded();
    await rows.nth(before).waitFor();
  }
  const loadedMs = Math.round(performance.now() - startedMs);
  row(`${path}: ${scrolledRows} rows loaded page by page`, `${loadedMs} ms`, '–');
  const frames = await framesWhile(page, async () => {
    await rows.nth(20).hover();
    for (const by of [-4000, 4000]) {
      for (let step = 0; step < 50; step += 1) await page.mouse.wheel(0, by / 4);
    }
  });
  row(`${path}: frames while scrolling them`, words(frames), '99 of 100 ≤ 50 ms');
  row(`${path}: JavaScript heap`, await heapOf(page), '≤ 100 MB');
}
