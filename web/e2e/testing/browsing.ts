/** A browser that opens the dashboard as a user would. */
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { chromium, type Browser, type Page, type Request } from 'playwright-core';
import { productPassword } from '../../../services/minimal/testing/product.ts';
import { newContrasts, type Axe } from './contrasts.ts';

const executablePath = [
  // The headless shell uses less CPU and memory than the full browser.
  '/usr/bin/chromium-headless-shell',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
].find((path) => existsSync(path));

/** The program that `describeWith` requires for a test suite. */
export const chromiumService = {
  service: 'Chromium',
  found: executablePath,
  reason: 'no Chromium on this machine (Debian: apt-get install chromium-headless-shell)',
};

const standards = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];
/** Shorter than the test timeout, so that the error names the missing element. */
const timeoutMs = 40_000;
/** Runs in the page and waits for the next frame, for at most half a second. A headless browser may draw no frame after
 *  its window is resized. */
const drawn = `new Promise((done) => {
  requestAnimationFrame(() => requestIdleCallback(done));
  setTimeout(done, 500);
})`;
const axeSource = readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

export class Browsing {
  readonly page: Page;
  /** Errors that the pages have logged so far. */
  readonly complaints: string[] = [];
  readonly #browser: Browser;
  /** The number of requests sent so far. `#underWay` contains the pending requests. */
  #asked = 0;
  readonly #underWay = new Set<Request>();
  /** Text styles whose contrast was sufficient. They are not checked again. */
  readonly #legible = new Set<string>();

  private constructor(browser: Browser, page: Page) {
    this.#browser = browser;
    this.page = page;
    page.on('pageerror', (error) => this.complaints.push(error.message));
    page.on('console', (message) => {
      // Ignores the browser's own log messages about error responses.
      const isTold = message.text().startsWith('Failed to load resource');
      if (message.type() === 'error' && !isTold) this.complaints.push(message.text());
    });
    page.on('response', (answer) => {
      const asked = `${answer.request().method()} ${answer.url()}`;
      if (answer.status() === 403) this.complaints.push(`${asked} was forbidden`);
      // A write is complete when its response arrives, because the browser does not always read the whole body.
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
      args: [
        '--no-sandbox',
        '--disable-gpu',
        '--disable-quic',
        '--disable-background-networking',
        // Optimized code would not pay off, because each page is open only briefly.
        '--js-flags=--no-opt --no-maglev',
      ],
    });
    return await Browsing.#in(browser);
  }

  static async #in(browser: Browser): Promise<Browsing> {
    // Disables animations, because an element that is fading in has a lower contrast.
    const page = await browser.newPage({
      viewport: { width: 1280, height: 800 },
      reducedMotion: 'reduce',
    });
    page.setDefaultTimeout(timeoutMs);
    return new Browsing(browser, page);
  }

  /** Opens another browser window without a session. */
  async another(): Promise<Browsing> {
    return await Browsing.#in(this.#browser);
  }

  /** Signs in, as the administrator by default, and opens the page at `url`. */
  async signIn(url: string, email = 'admin@example.com'): Promise<void> {
    await this.page.goto(url);
    await this.page.getByLabel('Email').fill(email);
    await this.page.getByLabel('Password').fill(productPassword);
    await this.page.getByRole('button', { name: 'Sign in' }).click();
    await this.page.getByRole('navigation', { name: 'Main' }).waitFor();
  }

  /** Opens a page as a link of the dashboard would, without a reload.
   *  @param arrival the URL to which the dashboard redirects, if it is another one */
  async follow(url: string, arrival = url): Promise<void> {
    await this.page.locator('body').evaluate((body, href) => {
      const link = Object.assign(body.ownerDocument.createElement('a'), { href });
      body.append(link);
      link.click();
      link.remove();
    }, url);
    await this.page.waitForURL(arrival);
    await this.untilQuiet();
  }

  async signOut(): Promise<void> {
    await this.page.getByRole('button', { name: 'Account:' }).click();
    await this.page.getByRole('menuitem', { name: 'Sign out' }).click();
    await this.page.getByRole('button', { name: 'Sign in' }).waitFor();
  }

  /** Removes the expected errors that start with this text. */
  forgive(beginning: string): void {
    const others = this.complaints.filter((one) => !one.startsWith(beginning));
    this.complaints.splice(0, Infinity, ...others);
  }

  /** Waits until all requested data is loaded and displayed.
   *  @throws an error that names the pending requests */
  async untilQuiet(): Promise<void> {
    const startedMs = performance.now();
    for (let before = -1; this.#underWay.size > 0 || this.#asked > before;) {
      if (performance.now() - startedMs > timeoutMs) {
        const left = [...this.#underWay].map((one) => `${one.method()} ${one.url()}`);
        throw new Error(`timed out waiting for ${left.join(', ')}`);
      }
      before = this.#asked;
      await this.page.evaluate(drawn);
    }
  }

  /** Accessibility violations in the light and dark themes, as far as a program can detect violations of WCAG 2.2
   *  AA. */
  async barriers(): Promise<readonly string[]> {
    const inLight = await this.barriersInLight();
    await this.#look('dark');
    // The dark theme differs from the light theme only in colors, so only the contrast is checked.
    const inDark = await this.#contrasts();
    await this.#look('light');
    return [...inLight, ...inDark];
  }

  /** The violations in the light theme only. */
  async barriersInLight(): Promise<readonly string[]> {
    // Loads axe once. The page keeps the library until it is reloaded.
    if (!(await this.page.evaluate(`'axe' in window`))) await this.page.evaluate(await axeSource);
    return [...(await this.#violations()), ...(await this.#contrasts())];
  }

  /** Switches the theme and waits until the page is redrawn. */
  async #look(colorScheme: 'light' | 'dark'): Promise<void> {
    await this.page.emulateMedia({ colorScheme });
    await this.page.locator(`html[style*="color-scheme: ${colorScheme}"]`).waitFor();
  }

  /** Violations in the current theme, except for contrast. */
  async #violations(): Promise<readonly string[]> {
    return await this.page.evaluate(async (runOnly) => {
      const { axe, document } = globalThis as unknown as {
        axe: Axe;
        document: { querySelector(selector: string): unknown };
      };
      // The rule rejects only inline styles that are important. It takes a quarter of the time, because it reads the
      // visible text of each element with an inline style, such as the whole document.
      const isImportant = document.querySelector('[style*="important" i]') !== null;
      const { violations } = await axe.run(
        // Ignores messages that are fading out.
        { exclude: ['[data-removed="true"]'] },
        // Returns only the violations, not the passed rules.
        {
          runOnly,
          resultTypes: ['violations'],
          rules: {
            'color-contrast': { enabled: false },
            'avoid-inline-spacing': { enabled: isImportant },
          },
        },
      );
      return violations.flatMap(({ id, nodes }) =>
        nodes.map((node) => `${id}: ${node.html.slice(0, 200)}: ${node.failureSummary}`),
      );
    }, standards);
  }

  /** Texts with low contrast in the current theme. Styles checked on an earlier page are skipped, because this check
   *  takes as long as all others together. */
  async #contrasts(): Promise<readonly string[]> {
    const known = [...this.#legible];
    const { violations, looks } = await this.page.locator('body').evaluate(newContrasts, known);
    for (const look of looks) this.#legible.add(look);
    return violations;
  }

  async close(): Promise<void> {
    await this.#browser.close();
  }
}
