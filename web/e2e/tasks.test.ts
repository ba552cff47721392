/** The ten most frequent tasks, performed with the keyboard only. Each task has a maximum number of keystrokes, counted
 *  from the first page. */
import type { Locator, Page } from 'playwright-core';
import { afterEach, expect, test } from 'vitest';
import { describeWith } from '../../scripts/testing/optional-service.ts';
import { until, type Product } from '../../services/minimal/testing/product.ts';
import { chromiumService, type Browsing } from './testing/browsing.ts';
import { openDashboard } from './testing/dashboard.ts';

const waiting = { 'main.py': 'import time\ntime.sleep(600)\n' };

describeWith(chromiumService, 'a user with only a keyboard', () => {
  let product: Product;
  let browsing: Browsing;
  let page: Page;
  let [quick, bot]: readonly string[] = [];
  let keystrokes = 0;
  openDashboard(async (opened) => {
    ({ product, browsing, page } = opened);
    quick = await product.script('quick', { 'main.py': 'print(1)\n' });
    bot = await product.script('bot', waiting);
    const failing = await product.script('failing', { 'main.py': 'raise ValueError("no rows")\n' });
    await product.untilFinished((await product.run(failing)).run_id);
    await browsing.signIn(product.baseUrl);
    // From here on, the tests use only the keyboard.
    await page.mouse.move(0, 0);
  });
  afterEach(() => page.goto('about:blank'));

  const heading = (name: string | RegExp) => page.getByRole('heading', { level: 1, name });

  /** Opens the dashboard and starts counting keystrokes. */
  async function start(): Promise<void> {
    await page.goto(product.baseUrl);
    await heading('Dashboard').waitFor();
    keystrokes = 0;
  }

  async function press(...keys: readonly string[]): Promise<void> {
    for (const key of keys) {
      keystrokes += 1;
      await page.keyboard.press(key);
    }
  }

  async function type(text: string): Promise<void> {
    keystrokes += text.length;
    await page.keyboard.type(text);
  }

  /** Presses Tab until the control is focused. */
  async function tabTo(control: Locator): Promise<void> {
    await control.waitFor();
    const isFocused = () => control.evaluate((one) => one === one.ownerDocument.activeElement);
    for (let presses = 0; !(await isFocused()); presses += 1) {
      if (presses === 60) throw new Error('Tab does not reach the control');
      await press('Tab');
    }
  }

  /** Types a search text in the command palette and chooses an option. */
  async function choose(typed: string, option: string | RegExp): Promise<void> {
    await press('Control+k');
    await page.getByPlaceholder('Search pages').waitFor();
    await type(typed);
    await page.getByRole('option', { name: option, selected: true }).waitFor();
    await press('Enter');
  }

  const list = (name: string) => page.getByRole('table', { name });

  test('runs a script and reads its log (task 1)', async () => {
    await start();
    await choose('run qui', 'Run quick');
    await page.getByRole('status', { name: 'Run status' }).getByText('Success').waitFor();
    await page.getByRole('region', { name: 'Log', exact: true }).getByText('1').first().waitFor();
    expect(keystrokes).toBeLessThanOrEqual(9);
  });

  test('finds out why the last run of a script failed (task 2)', async () => {
    await start();
    await press('g', 'x');
    await page.getByText('ValueError: no rows').first().waitFor();
    await press('j', 'Enter');
    await heading(/ValueError/).waitFor();
    expect(keystrokes).toBeLessThanOrEqual(4);
  });

  test('finds out who changed a script, which also takes only two clicks from the first page (task 3)', async () => {
    await start();
    await choose('quick', 'quick');
    await heading('quick').waitFor();
    await choose('hist', 'History of this script');
    await list('History').getByText('admin@example.com').first().waitFor();
    expect(keystrokes).toBeLessThanOrEqual(13);
    await page.goto(product.baseUrl);
    const menu = page.getByRole('navigation', { name: 'Main' });
    await menu.getByRole('link', { name: 'Scripts' }).click();
    await page.getByRole('link', { name: 'quick', exact: true }).click();
    const about = page.getByRole('region', { name: 'About' });
    await about.getByText(/(?:now|ago) by admin@example\.com/).waitFor();
    await about.getByRole('link', { name: 'History' }).click();
    await list('History').getByText('admin@example.com').first().waitFor();
  });

  test('changes the code of a script and saves it (task 4)', async () => {
    await start();
    await choose('quick', 'quick');
    await page.getByText('print(1)').waitFor();
    const { version: before } = await product.call<{ version: number }>('GET', `/scripts/${quick}`);
    await press('Control+End');
    await type('print(2)');
    await press('Control+s');
    await until('the file is saved', async () => {
      const { version } = await product.call<{ version: number }>('GET', `/scripts/${quick}`);
      return version > before || undefined;
    });
    expect(keystrokes).toBeLessThanOrEqual(17);
  });

  test('can instead change the code of a script with three clicks from the first page (task 4)', async () => {
    await page.goto(product.baseUrl);
    const menu = page.getByRole('navigation', { name: 'Main' });
    await menu.getByRole('link', { name: 'Scripts' }).click();
    const row = page.getByRole('row').filter({ hasText: 'quick' });
    await row.getByRole('link', { name: 'Code' }).click();
    // The editor receives the focus.
    await page.locator('.cm-editor.cm-focused').getByText('print(1)').waitFor();
    const { version: before } = await product.call<{ version: number }>('GET', `/scripts/${quick}`);
    await page.keyboard.press('Control+End');
    await page.keyboard.type('print(3)');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await until('the file is saved', async () => {
      const { version } = await product.call<{ version: number }>('GET', `/scripts/${quick}`);
      return version > before || undefined;
    });
    await page.mouse.move(0, 0);
  });

  test('stops the runs of a script (task 5)', async () => {
    const { run_id: runId } = await product.run(bot ?? '');
    await start();
    await choose('stop bot', 'Stop bot');
    await page.getByText('Stopping 1 run of “bot”').waitFor();
    await product.untilFinished(runId);
    expect(keystrokes).toBeLessThanOrEqual(10);
  });

  test('reruns a failed run (task 6)', async () => {
    await start();
    await press('g', 'r');
    await heading('Runs').waitFor();
    await list('Runs')
      .getByRole('link', { name: /failing/ })
      .first()
      .waitFor();
    await press('/');
    await type('failing');
    await expect.poll(() => list('Runs').locator('tbody tr a').count()).toBe(1);
    await tabTo(list('Runs').getByRole('link'));
    await press('Enter');
    await heading(/failing/).waitFor();
    const before = page.url();
    await choose('again', 'Run again');
    await page.waitForURL((url) => url.pathname.startsWith('/runs/') && url.href !== before);
    expect(keystrokes).toBeLessThanOrEqual(50);
  });

  test('lists the failed runs (task 7)', async () => {
    await start();
    await press('g', 'r');
    await heading('Runs').waitFor();
    await tabTo(page.getByLabel('Status', { exact: true }));
    await type('Fai');
    await page.waitForURL('**/runs?status=failed');
    await list('Runs')
      .getByRole('link', { name: /failing, failed/ })
      .first()
      .waitFor();
    expect(keystrokes).toBeLessThanOrEqual(45);
  });

  test('creates a script (task 8)', async () => {
    await start();
    await press('g', 's');
    await heading('Scripts').waitFor();
    await press('c');
    await page.getByRole('dialog', { name: 'New script' }).waitFor();
    await type('new one');
    await press('Enter');
    await heading('new one').waitFor();
    expect(keystrokes).toBeLessThanOrEqual(11);
  });

  test('creates a schedule with a name (task 9)', async () => {
    await start();
    await choose('quick', 'quick');
    await heading('quick').waitFor();
    await choose('sched', 'Schedules of this script');
    await page.getByRole('heading', { name: 'No schedules yet' }).waitFor();
    await press('c');
    const dialog = page.getByRole('dialog', { name: 'New schedule' });
    await tabTo(dialog.getByLabel('Name'));
    await type('mornings');
    await press('Enter');
    await dialog.waitFor({ state: 'detached' });
    await heading('mornings')
      .or(page.getByRole('link', { name: 'mornings' }))
      .first()
      .waitFor();
    expect(keystrokes).toBeLessThanOrEqual(30);
  });

  test('disables a script (task 10)', async () => {
    await start();
    await choose('disable qui', 'Disable quick');
    await page.getByText('Disabled “quick”').waitFor();
    expect(keystrokes).toBeLessThanOrEqual(13);
  });
});
