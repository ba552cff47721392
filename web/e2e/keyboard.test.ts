/** Keyboard shortcuts, links from statistics to lists, and paginated lists, tested in a real browser against the real
 *  product. */
import type { Locator, Page, Route } from 'playwright-core';
import { expect, test } from 'vitest';
import { describeWith } from '../../scripts/testing/optional-service.ts';
import { chromiumService, type Browsing } from './testing/browsing.ts';
import { openDashboard } from './testing/dashboard.ts';
import { until, type Product } from '../../services/minimal/testing/product.ts';

/** The number of scripts, which exceeds the size of a list page. */
const many = 110;
const aPage = 100;
const paced = `import json, os, time
time.sleep(json.loads(os.environ["ORCH_PARAMS"])["seconds"])
`;

describeWith(chromiumService, 'the dashboard with shortcuts and statistics', () => {
  let product: Product;
  let browsing: Browsing;
  let page: Page;
  let runningId: string;
  openDashboard(async (opened) => {
    ({ product, browsing, page } = opened);
    const failing = await product.script('failing', { 'main.py': 'raise SystemExit(3)\n' });
    await product.untilFinished((await product.run(failing)).run_id);
    const script = await product.script('paced', { 'main.py': paced });
    const first = await product.run(script, { params: { seconds: 1 } });
    await product.untilFinished(first.run_id);
    runningId = (await product.run(script, { params: { seconds: 600 } })).run_id;
    await product.run(script, { params: { seconds: 600 }, when_busy: 'queue' });
    await Promise.all(
      Array.from({ length: many }, async (_, number) => {
        await product.call('POST', '/scripts', { name: `bulk ${number}` });
      }),
    );
    await until('the figures have followed', async () => {
      const figures = await product.call<Figures>('GET', '/dashboard/stats');
      const isRunning = figures.runs_running === 1 && figures.runs_24h === 2;
      return isRunning ? true : undefined;
    });
    await browsing.signIn(product.baseUrl);
  });

  const rows = () =>
    page
      .getByRole('main')
      .locator('tbody tr')
      .filter({ has: page.locator('a') });
  const dialog = () => page.getByRole('dialog');
  const title = (name: string) => page.getByRole('heading', { level: 1, name, exact: true });

  test('links each statistic to a list with the counted rows', { timeout: 180_000 }, async () => {
    for (const [label, count] of [
      ['Runs', 2],
      ['Errors', 1],
      ['Running', 1],
      ['Queued', 1],
      ['Median duration', 2],
      ['p95 duration', 2],
      ['p95 queue time', 2],
    ] as const) {
      await page.goto(product.baseUrl);
      const name = new RegExp(`^${label}`);
      const card = page.getByRole('main').getByRole('link', { name }).first();
      if (!/duration|time/.test(label))
        await card.getByText(String(count), { exact: true }).waitFor();
      await card.click();
      await title('Runs').waitFor();
      await expect.poll(() => rows().count()).toBe(count);
    }
    await page.goto(product.baseUrl);
    await page.getByRole('link', { name: `Scripts ${many + 2}` }).click();
    await title('Scripts').waitFor();
    await expect.poll(() => rows().count()).toBe(aPage);
  });

  test('shows the expected end only for a running run', async () => {
    await page.goto(`${product.baseUrl}/runs/${runningId}`);
    const expected = page.getByText('Expected end').locator('..');
    await expected.getByText(/ longer than usual$/).waitFor();
    await expected.getByTitle(/^Median of recent successful runs: 1\.\d s$/).waitFor();
    const { items } = await product.call<{ items: { run_id: string }[] }>(
      'GET',
      '/runs?status=failed',
    );
    await page.goto(`${product.baseUrl}/runs/${items[0]?.run_id}`);
    await page.getByText('Exit code', { exact: true }).waitFor();
    expect(await page.getByText('Expected end').count()).toBe(0);
  });

  test(
    'applies a bulk action to all matches on all pages, and can stop it midway',
    { timeout: 180_000 },
    async () => {
      await page.goto(`${product.baseUrl}/scripts?q=bulk&sort=name`);
      const bar = page.getByRole('toolbar');
      const selectAll = page.getByRole('checkbox', { name: 'Select all scripts on this page' });
      await selectAll.click();
      await bar.getByText(`${aPage} selected`).waitFor();
      await bar.getByRole('button', { name: 'Select all matching' }).click();
      await bar.getByText('All matching scripts').waitFor();
      await bar.getByRole('button', { name: 'Disable', exact: true }).click();
      await dialog().getByText(`${many} scripts will be disabled`).waitFor();

      // The first concurrent requests stay pending until the action is stopped.
      const held: Route[] = [];
      const isHeld = Promise.withResolvers<void>();
      await page.route('**/scripts/*/disable', (route) => {
        if (held.push(route) === 4) isHeld.resolve();
      });
      await dialog().getByRole('button', { name: 'Disable', exact: true }).click();
      await isHeld.promise;
      await dialog().getByRole('button', { name: 'Stop' }).click();
      for (const route of held) await route.continue();
      await dialog()
        .getByText(`4 scripts disabled. ${many - 4} not started.`)
        .waitFor();
      expect(await browsing.barriers()).toEqual([]);
      await page.unroute('**/scripts/*/disable');
      await dialog().getByRole('button', { name: 'Close' }).last().click();

      await page.reload();
      await selectAll.click();
      await bar.getByRole('button', { name: 'Select all matching' }).click();
      await bar.getByRole('button', { name: 'Disable', exact: true }).click();
      await dialog().getByText('4 scripts are already disabled.').waitFor();
      await dialog().getByRole('button', { name: 'Disable', exact: true }).click();
      await dialog().waitFor({ state: 'detached', timeout: 30_000 });
      const figures = await product.call<Figures>('GET', '/dashboard/stats');
      expect(figures).toMatchObject({ scripts_total: many + 2, scripts_enabled: 2 });
    },
  );

  test('lists the shortcuts, each of which opens its page', { timeout: 180_000 }, async () => {
    await page.goto(`${product.baseUrl}/runs`);
    await title('Runs').waitFor();
    await page.keyboard.press('?');
    const list = page.getByRole('dialog', { name: 'Keyboard shortcuts' });
    await list.waitFor();
    const texts = async (found: Locator) =>
      (await found.allTextContents()).map((text) => text.trim());
    const keys = await texts(list.locator('dt'));
    const words = await texts(list.locator('dd'));
    expect(keys).toEqual(expect.arrayContaining(['/', 'j, k', 'x, X', 'c', 'r', '?']));
    await page.keyboard.press('Escape');
    const menu = page.getByRole('navigation', { name: 'Main' });
    const places = keys.flatMap((key, index) =>
      key.startsWith('g ') ? [{ key: key.slice(2), label: words[index] ?? '' }] : [],
    );
    expect(places.length).toBeGreaterThan(10);
    for (const { key, label } of places) {
      await page.keyboard.press('g');
      await page.keyboard.press(key);
      const own = { Preferences: '/preferences', 'Account and API tokens': '/account' }[label];
      const link = menu.getByRole('link', { name: label });
      const href = own ?? (await link.getAttribute('href'));
      await page.waitForURL((url) => url.pathname === href);
    }
  });

  test('opens rows, focuses the search, creates items and reloads with single keys', async () => {
    await page.goto(`${product.baseUrl}/scripts?sort=name`);
    await rows().nth(2).waitFor();
    const focused = () => page.evaluate('document.activeElement.textContent');
    await page.keyboard.press('j');
    await expect.poll(focused).toBe('bulk 0');
    await page.keyboard.press('j');
    await expect.poll(focused).toBe('bulk 1');
    await page.keyboard.press('k');
    await expect.poll(focused).toBe('bulk 0');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'bulk 0' }).waitFor();
    await page.goBack();
    await rows().nth(2).waitFor();
    await page.keyboard.press('/');
    await page.keyboard.type('paced');
    await expect.poll(() => rows().count()).toBe(1);
    // In an input field, the key types a letter instead of triggering the shortcut.
    await page.keyboard.press('c');
    await page.getByRole('heading', { name: 'No matching scripts' }).waitFor();
    await page.keyboard.press('Escape');
    await page.keyboard.press('Escape');
    await rows().nth(2).waitFor();
    await Promise.all([page.waitForResponse(/api\/v1\/scripts\?/), page.keyboard.press('r')]);
    await page.keyboard.press('c');
    await page.getByRole('dialog', { name: 'New script' }).waitFor();
    await page.keyboard.press('Escape');
    await page.goto(`${product.baseUrl}/schedules`);
    await page.getByRole('heading', { name: 'No schedules yet' }).waitFor();
    await page.keyboard.press('c');
    await page.getByRole('dialog', { name: 'New schedule' }).waitFor();
    await page.keyboard.press('Escape');
  });

  test('finds scripts, runs and actions in the command palette', async () => {
    const find = async (typed: string) => {
      await page.keyboard.press('Control+k');
      await page.getByPlaceholder('Search pages').fill(typed);
    };
    const option = (name: string | RegExp) => page.getByRole('option', { name });
    const runOf = (name: string) => page.getByRole('heading', { level: 1 }).getByText(name);
    await page.goto(product.baseUrl);
    await title('Dashboard').waitFor();
    await find('failing');
    await option(/^failing: Failed/).click();
    await page.waitForURL('**/runs/*');
    await runOf('failing').waitFor();
    await find('run failing');
    await option(/^Run failing/).click();
    await page
      .getByText('The run failed')
      .or(page.getByText(/exit code 3/i))
      .first()
      .waitFor();
    await find('stop paced');
    await option(/^Stop paced/).click();
    await page.getByText('Stopping 2 runs of “paced”').waitFor();
    await find('no such thing');
    await page.getByText('No results').waitFor();
    expect(await browsing.barriers()).toEqual([]);
    await page.keyboard.press('Escape');
  });

  test('opens the first result for the whole typed text, even if Enter is pressed earlier', async () => {
    await page.goto(product.baseUrl);
    await title('Dashboard').waitFor();
    const entered = Promise.withResolvers<void>();
    await page.route('**/api/v1/scripts?*q=failing*', async (route) => {
      await entered.promise;
      await route.continue();
    });
    const runsFound = page.waitForResponse('**/api/v1/runs?*q=failing*');
    await page.keyboard.press('Control+k');
    await page.getByPlaceholder('Search pages').fill('failing');
    await runsFound;
    await page.keyboard.press('Enter');
    entered.resolve();
    await page.waitForURL('**/scripts/*');
    await title('failing').waitFor();
    await page.unrouteAll();
  });
});

interface Figures {
  readonly runs_24h: number;
  readonly runs_running: number;
  readonly scripts_total: number;
  readonly scripts_enabled: number;
}
