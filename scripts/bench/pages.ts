/** Measures the dashboard's pages in a real browser with an empty cache: requests, bytes, layout shift and first
 *  paint. */
import type { CDPSession, Page, Request } from 'playwright-core';
import { Browsing } from '../../web/e2e/testing/browsing.ts';
import { seed, type Seeded } from '../../web/e2e/testing/seed.ts';
import type { Product } from '#services/minimal/testing/product.ts';
import { median, row } from './report.ts';

const rounds = 5;
const screen = { width: 1440, height: 900 };

interface Figures {
  /** The number of requests for scripts and style sheets. */
  readonly codeRequests: number;
  /** The number of bytes transferred over the network. */
  readonly scriptBytes: number;
  readonly fontBytes: number;
  readonly apiCalls: number;
  /** The cumulative layout shift. */
  readonly shift: number;
  /** Milliseconds from the navigation to the first contentful paint. */
  readonly firstPaintMs: number;
}

/** A script that the page runs before its own scripts. */
const observeShifts = `
  globalThis.layoutShift = 0;
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) if (!entry.hadRecentInput) globalThis.layoutShift += entry.value;
  }).observe({ type: 'layout-shift', buffered: true });`;

export async function benchPages(product: Product): Promise<void> {
  const seeded = await seed(product);
  const browsing = await Browsing.start();
  const { page } = browsing;
  try {
    await page.setViewportSize(screen);
    await page.addInitScript(observeShifts);
    const network = await page.context().newCDPSession(page);
    await network.send('Network.setCacheDisabled', { cacheDisabled: true });
    await measure(browsing, network, 'sign-in', `${product.baseUrl}/login`);
    await browsing.signIn(product.baseUrl);
    for (const [name, path] of pagesOf(seeded)) {
      await measure(browsing, network, name, product.baseUrl + path);
    }
  } finally {
    await browsing.close();
  }
}

function pagesOf({ scriptId, runId }: Seeded): readonly (readonly [string, string])[] {
  return [
    ['dashboard', '/'],
    ['scripts', '/scripts'],
    ['script', `/scripts/${scriptId}/overview`],
    ['code', `/scripts/${scriptId}`],
    ['runs', '/runs'],
    ['run', `/runs/${runId}`],
    ['schedules', '/schedules'],
    ['chains', '/chains'],
    ['audit', '/audit'],
  ];
}

async function measure(
  browsing: Browsing,
  network: CDPSession,
  name: string,
  url: string,
): Promise<void> {
  const all: Figures[] = [];
  for (let round = 0; round < rounds; round += 1) {
    await network.send('Network.clearBrowserCache');
    all.push(await load(browsing, url));
  }
  const of = (figure: keyof Figures) => median(all.map((one) => one[figure]));
  const isSignIn = name === 'sign-in';
  const kib = (bytes: number) => (bytes / 1024).toFixed(1);
  row(`page ${name}: requests for code`, String(of('codeRequests')), '≤ 25');
  row(
    `page ${name}: JavaScript and fonts on the wire`,
    `${kib(of('scriptBytes'))} KiB and ${kib(of('fontBytes'))} KiB`,
    isSignIn ? '≤ 60 KiB of JavaScript' : '–',
  );
  row(`page ${name}: API calls`, String(of('apiCalls')), name === 'dashboard' ? '≤ 4' : '–');
  row(`page ${name}: layout shift`, of('shift').toFixed(4), '≤ 0.01');
  row(`page ${name}: first contentful paint`, `${Math.round(of('firstPaintMs'))} ms`, '–');
}

/** Loads a page as if the user had followed a link from another site. */
async function load(browsing: Browsing, url: string): Promise<Figures> {
  const { page } = browsing;
  const requests: Request[] = [];
  const note = (request: Request) => void requests.push(request);
  await page.goto('about:blank');
  page.on('request', note);
  await page.goto(url);
  await page.getByRole('heading').first().waitFor();
  await browsing.untilQuiet();
  page.off('request', note);
  const scripts = requests.filter((one) => one.resourceType() === 'script');
  const styles = requests.filter((one) => one.resourceType() === 'stylesheet');
  const fonts = requests.filter((one) => one.resourceType() === 'font');
  return {
    codeRequests: scripts.length + styles.length,
    scriptBytes: await bytesOf(scripts),
    fontBytes: await bytesOf(fonts),
    apiCalls: requests.filter((one) => new URL(one.url()).pathname.startsWith('/api/')).length,
    ...(await paintOf(page)),
  };
}

async function bytesOf(requests: readonly Request[]): Promise<number> {
  const sizes = await Promise.all(requests.map((one) => one.sizes()));
  return sizes.reduce((sum, size) => sum + size.responseBodySize, 0);
}

async function paintOf(page: Page): Promise<Pick<Figures, 'shift' | 'firstPaintMs'>> {
  return await page.evaluate(`({
    shift: globalThis.layoutShift,
    firstPaintMs: performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? 0,
  })`);
}
