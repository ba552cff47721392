/** A browser on the dashboard, as a person has it. */
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { chromium, type Browser, type Page, type Request } from 'playwright-core';
import { productPassword } from '../../../services/minimal/testing/product.ts';

const executablePath = [
  // Without the windows of a browser, it needs less of everything.
  '/usr/bin/chromium-headless-shell',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
].find((path) => existsSync(path));

/** For `describeWith`. */
export const chromiumService = {
  service: 'Chromium',
  found: executablePath,
  reason: 'no Chromium on this machine (Debian: apt-get install chromium-headless-shell)',
};

const standards = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];
/** So that what does not come is named before the test is over. */
const patienceMs = 40_000;
/** In the page. A browser without a screen may draw nothing after its window was resized. */
const drawn = `new Promise((done) => {
  requestAnimationFrame(() => requestIdleCallback(done));
  setTimeout(done, 500);
})`;
const axeSource = readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

export class Browsing {
  readonly page: Page;
  /** What went wrong on the pages so far, by their own account. */
  readonly complaints: string[] = [];
  readonly #browser: Browser;
  /** What the page has asked for so far, and what of it is under way. */
  #asked = 0;
  readonly #underWay = new Set<Request>();

  private constructor(browser: Browser, page: Page) {
    this.#browser = browser;
    this.page = page;
    page.on('pageerror', (error) => this.complaints.push(error.message));
    page.on('console', (message) => {
      // The browser itself tells of each answer that is no success.
      const isTold = message.text().startsWith('Failed to load resource');
      if (message.type() === 'error' && !isTold) this.complaints.push(message.text());
    });
    page.on('response', (answer) => {
      const asked = `${answer.request().method()} ${answer.url()}`;
      if (answer.status() === 403) this.complaints.push(`${asked} is not for who asked`);
      // Not every answer to a change is read to its end.
      if (answer.request().method() !== 'GET') this.#underWay.delete(answer.request());
    });
    page.on('request', (request) => {
      this.#asked += 1;
      this.#underWay.add(request);
    });
    page.on('requestfinished', (request) => this.#underWay.delete(request));
    page.on('requestfailed', (request) => this.#underWay.delete(request));
  }

  static async start(): Promise<Browsing> {
    const browser = await chromium.launch({
      executablePath: executablePath ?? '',
      args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--disable-background-networking'],
    });
    return await Browsing.#in(browser);
  }

  static async #in(browser: Browser): Promise<Browsing> {
    // Without motion, as what fades in has another contrast for a moment.
    const page = await browser.newPage({
      viewport: { width: 1280, height: 800 },
      reducedMotion: 'reduce',
    });
    page.setDefaultTimeout(patienceMs);
    return new Browsing(browser, page);
  }

  /** A window of its own in the same browser, in which nobody is signed in. */
  async another(): Promise<Browsing> {
    return await Browsing.#in(this.#browser);
  }

  /** Signs in, as the administrator unless another is named, and comes to the page at `url`. */
  async signIn(url: string, email = 'admin@example.com'): Promise<void> {
    await this.page.goto(url);
    await this.page.getByLabel('Email').fill(email);
    await this.page.getByLabel('Password').fill(productPassword);
    await this.page.getByRole('button', { name: 'Sign in' }).click();
    await this.page.getByRole('navigation', { name: 'Main' }).waitFor();
  }

  /** Goes to a page of the dashboard as a link on the present one does, without loading the dashboard anew. */
  async follow(url: string): Promise<void> {
    await this.page.locator('body').evaluate((body, href) => {
      const link = Object.assign(body.ownerDocument.createElement('a'), { href });
      body.append(link);
      link.click();
      link.remove();
    }, url);
    await this.page.waitForURL(url);
    await this.untilQuiet();
  }

  async signOut(): Promise<void> {
    await this.page.getByRole('button', { name: 'Account:' }).click();
    await this.page.getByRole('menuitem', { name: 'Sign out' }).click();
    await this.page.getByRole('button', { name: 'Sign in' }).waitFor();
  }

  /** Takes back the complaints that begin so: what they tell of was part of the test. */
  forgive(beginning: string): void {
    const others = this.complaints.filter((one) => !one.startsWith(beginning));
    this.complaints.splice(0, Infinity, ...others);
  }

  /** Waits until all that the page asks for is there and shown.
   *  @throws naming what did not come */
  async untilQuiet(): Promise<void> {
    const startedMs = performance.now();
    for (let before = -1; this.#underWay.size > 0 || this.#asked > before;) {
      if (performance.now() - startedMs > patienceMs) {
        const left = [...this.#underWay].map((one) => `${one.method()} ${one.url()}`);
        throw new Error(`waited in vain for ${left.join(', ')}`);
      }
      before = this.#asked;
      await this.page.evaluate(drawn);
    }
  }

  /** What is shown that not everybody can use, in the light and the dark look: WCAG 2.2 AA, as far as a
   *  program can tell. */
  async barriers(): Promise<readonly string[]> {
    const inLight = await this.barriersInLight();
    await this.#look('dark');
    // The dark look has other colors, and nothing else.
    const inDark = await this.#violations(['color-contrast']);
    await this.#look('light');
    return [...inLight, ...inDark];
  }

  /** The same in the light look alone. */
  async barriersInLight(): Promise<readonly string[]> {
    // A page keeps axe until its next load.
    if (!(await this.page.evaluate(`'axe' in window`))) await this.page.evaluate(await axeSource);
    return await this.#violations(standards);
  }

  /** The page follows what the browser is told, a moment later. */
  async #look(colorScheme: 'light' | 'dark'): Promise<void> {
    await this.page.emulateMedia({ colorScheme });
    await this.page.locator(`html[style*="color-scheme: ${colorScheme}"]`).waitFor();
  }

  async #violations(runOnly: readonly string[]): Promise<readonly string[]> {
    return await this.page.evaluate(async (only) => {
      const { axe } = globalThis as unknown as { axe: Axe };
      const { violations } = await axe.run(
        // A message that is fading away.
        { exclude: ['[data-removed="true"]'] },
        // Violations are described in full; of what passes, nothing is read.
        { runOnly: [...only], resultTypes: ['violations'] },
      );
      return violations.flatMap(({ id, nodes }) =>
        nodes.map((node) => `${id}: ${node.html.slice(0, 200)}: ${node.failureSummary}`),
      );
    }, runOnly);
  }

  async close(): Promise<void> {
    await this.#browser.close();
  }
}

interface Axe {
  run(
    context: { readonly exclude: string[] },
    options: { readonly runOnly: string[]; readonly resultTypes: string[] },
  ): Promise<{
    readonly violations: readonly {
      readonly id: string;
      readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[];
    }[];
  }>;
}
