/** Filters and bulk actions in the run and script lists, tested in a real browser against the real product. */
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { describeWith } from '../../scripts/testing/optional-service.ts';
import { chromiumService, type Browsing } from './testing/browsing.ts';
import { openDashboard } from './testing/dashboard.ts';
import { productPassword, type Product } from '../../services/minimal/testing/product.ts';

const waiting = { 'main.py': 'import time\ntime.sleep(600)\n' };

describeWith(chromiumService, 'a list on the dashboard', () => {
  let product: Product;
  let browsing: Browsing;
  let page: Page;
  let failing: string;
  let bot: string;
  openDashboard(async (opened) => {
    ({ product, browsing, page } = opened);
    failing = await product.script('failing', { 'main.py': 'raise SystemExit(3)\n' });
    bot = await product.script('bot', waiting);
    const quick = await product.script('quick', { 'main.py': 'print(1)\n' });
    await product.call('PATCH', `/scripts/${bot}`, { max_concurrent_runs: 3 });
    for (const id of [quick, failing, failing]) {
      await product.untilFinished((await product.run(id)).run_id);
    }
    for (const _ of [1, 2, 3]) await product.run(bot);
    for (const role of ['operator', 'viewer']) {
      const body = { email: `${role}@example.com`, name: role, role, password: productPassword };
      const { items } = await product.call<{ items: { id: string }[] }>('GET', '/groups');
      await product.call('POST', '/users', { ...body, group_ids: items.map(({ id }) => id) });
    }
    await browsing.signIn(`${product.baseUrl}/runs`);
  });

  /** The table rows that contain items. Loading placeholders contain no links. */
  const rows = () =>
    page
      .getByRole('table')
      .locator('tbody tr')
      .filter({ has: page.locator('a') });
  const select = (name: string) => page.getByRole('checkbox', { name });

  test('excludes values, and removes the exclusion when the user goes back', async () => {
    await expect.poll(() => rows().count()).toBe(6);
    await page.getByLabel('Status', { exact: true }).selectOption('success');
    await expect.poll(() => rows().count()).toBe(1);
    await page.getByRole('button', { name: 'Status is not' }).click();
    await expect.poll(() => rows().count()).toBe(5);
    expect(new URL(page.url()).searchParams.get('status')).toBe('!success');
    await page.getByRole('combobox', { name: 'Script' }).pressSequentially('fail');
    await page.getByRole('option', { name: 'failing' }).click();
    await expect.poll(() => rows().count()).toBe(2);
    await page.getByRole('button', { name: 'Script is not' }).click();
    await expect.poll(() => rows().count()).toBe(3);
    expect(page.url()).toContain(`script_id=%21${failing}`);
    expect(await browsing.barriers()).toEqual([]);
    await page.reload();
    await expect.poll(() => rows().count()).toBe(3);
    await page.goBack();
    await expect.poll(() => rows().count()).toBe(2);
    await page.getByRole('link', { name: 'Clear all' }).click();
    await expect.poll(() => rows().count()).toBe(6);
  });

  test('sorts runs by keyboard, keeps the order in the URL, and returns to newest first', async () => {
    await page.goto(`${product.baseUrl}/runs`);
    await expect.poll(() => rows().count()).toBe(6);
    const header = (name: string, sorted: string) =>
      page.getByRole('columnheader', { name }).and(page.locator(`[aria-sort=${sorted}]`));
    const names = () => rows().locator('td:nth-child(3) > span:first-child').allTextContents();
    await header('Queued', 'descending').waitFor();
    await page.getByRole('columnheader', { name: 'Script' }).getByRole('button').focus();
    await page.keyboard.press('Enter');
    await header('Script', 'ascending').waitFor();
    await expect.poll(names).toEqual(['bot', 'bot', 'bot', 'failing', 'failing', 'quick']);
    await page.keyboard.press('Enter');
    await header('Script', 'descending').waitFor();
    await expect.poll(names).toEqual(['quick', 'failing', 'failing', 'bot', 'bot', 'bot']);
    expect(await browsing.barriers()).toEqual([]);
    await page.reload();
    await expect.poll(names).toEqual(['quick', 'failing', 'failing', 'bot', 'bot', 'bot']);
    expect(page.url()).toContain('sort=-script');
    await page.getByRole('columnheader', { name: 'Duration' }).getByRole('button').press('Enter');
    await header('Duration', 'descending').waitFor();
    await expect.poll(async () => (await names()).slice(3)).toEqual(['bot', 'bot', 'bot']);
    await page.getByRole('columnheader', { name: 'Queued' }).getByRole('button').press('Enter');
    await header('Queued', 'descending').waitFor();
    expect(page.url()).not.toContain('sort');
  });

  test('opens a row on a click anywhere in the row, or in a new tab with the middle button', async () => {
    await page.goto(`${product.baseUrl}/scripts`);
    const cell = page.getByRole('row', { name: /quick/ }).getByText('Enabled');
    const [opened] = await Promise.all([
      page.context().waitForEvent('page'),
      cell.click({ button: 'middle' }),
    ]);
    await opened.waitForURL('**/overview');
    await opened.close();
    await page.evaluate('globalThis.isSameDocument = true');
    await cell.click();
    await page.getByRole('heading', { level: 1, name: 'quick' }).waitFor();
    expect(await page.evaluate('globalThis.isSameDocument')).toBe(true);
  });

  test('selects rows by keyboard, by range, and all together', async () => {
    const bar = page.getByRole('toolbar');
    await page.goto(`${product.baseUrl}/runs`);
    await rows().nth(5).waitFor();
    await page.keyboard.press('j');
    await page.keyboard.press('x');
    await bar.getByText('1 selected').waitFor();
    await page.keyboard.press('j');
    await page.keyboard.press('j');
    await page.keyboard.press('Shift+X');
    await bar.getByText('3 selected').waitFor();
    expect(await browsing.barriers()).toEqual([]);
    await select('Select all runs on this page').click();
    await bar.getByText('6 selected').waitFor();
    await page.keyboard.press('Escape');
    await bar.waitFor({ state: 'detached' });
  });

  test('reruns selected runs, and gives the reason for each refusal', async () => {
    await page.goto(`${product.baseUrl}/runs?status=!running`);
    await select('Select all runs on this page').click();
    await page.getByRole('toolbar').getByRole('button', { name: 'Run again' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('3 new runs of 2 scripts').waitFor();
    await dialog.getByText('Original version').click();
    await product.call('POST', `/scripts/${failing}/disable`);
    await dialog.getByRole('button', { name: 'Rerun' }).click();
    await dialog.getByText('1 run queued').waitFor();
    const refused = dialog.getByRole('list', { name: 'Failed' });
    await refused.getByText('failing, failed').first().waitFor();
    await expect.poll(() => refused.getByRole('listitem').count()).toBe(2);
    await refused.getByText('disabled').first().waitFor();
    expect(await browsing.barriers()).toEqual([]);
    await dialog.getByRole('button', { name: 'Close' }).last().click();
    await product.call('POST', `/scripts/${failing}/enable`);
  });

  test('stops the active runs of a selection', async () => {
    await page.goto(`${product.baseUrl}/runs?q=bot`);
    await select('Select all runs on this page').click();
    await page.getByRole('toolbar').getByRole('button', { name: 'Stop' }).click();
    const dialog = page.getByRole('dialog', { name: 'Stop selected runs?' });
    await dialog.getByText('3 runs in progress will be asked to stop').waitFor();
    expect(await browsing.barriers()).toEqual([]);
    await dialog.getByRole('button', { name: 'Stop runs' }).click();
    await dialog.waitFor({ state: 'detached' });
    await expect.poll(() => page.getByRole('table').getByText('Stopped').count()).toBe(3);
    await select('Select all runs on this page').click();
    await page.getByRole('toolbar').getByRole('button', { name: 'Stop' }).click();
    await dialog.getByText('No selected run is queued or running.').waitFor();
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    await page.keyboard.press('Escape');
    await page.getByRole('toolbar').waitFor({ state: 'detached' });
  });

  test('adds its actions to the command palette, which also accepts verbs', async () => {
    await page.keyboard.press('Control+k');
    await page.getByRole('option', { name: 'Select all runs on this page' }).click();
    await page.getByRole('toolbar').getByText('3 selected').waitFor();
    await page.keyboard.press('Control+k');
    await page.getByPlaceholder('Search pages').fill('rerun sel');
    await page.getByRole('option', { name: 'Rerun selected runs' }).click();
    const dialog = page.getByRole('dialog', { name: 'Rerun selected runs?' });
    await dialog.waitFor();
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    await page.keyboard.press('Control+k');
    await page.getByPlaceholder('Search pages').fill('disable quick');
    await page.getByRole('option', { name: 'Disable quick' }).waitFor();
    expect(await browsing.barriers()).toEqual([]);
    await page.keyboard.press('Enter');
    await page.getByText('Disabled “quick”').waitFor();
  });

  test('keeps favorites, columns and saved views in the browser', async () => {
    await page.goto(`${product.baseUrl}/scripts`);
    await page.getByRole('button', { name: 'Favorite quick' }).click();
    await page.getByRole('button', { name: 'Favorites' }).click();
    await expect.poll(() => rows().count()).toBe(1);
    await page.getByRole('button', { name: 'Saved views' }).click();
    await page.getByLabel('Name of the view').fill('Mine');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByRole('button', { name: 'Columns' }).click();
    await page.getByRole('menuitemcheckbox', { name: 'Changed' }).click();
    await page.keyboard.press('Escape');
    await page.goto(`${product.baseUrl}/scripts`);
    await page.getByRole('columnheader', { name: /^Changed/ }).waitFor();
    await expect.poll(() => rows().count()).toBe(3);
    await page.getByRole('button', { name: 'Saved views' }).click();
    expect(await browsing.barriers()).toEqual([]);
    await page.getByRole('link', { name: 'Mine' }).click();
    await expect.poll(() => rows().count()).toBe(1);
    expect(page.url()).toContain('favorites=true');
    await page.getByRole('button', { name: 'Favorite quick' }).click();
    await page.getByRole('heading', { name: 'No matching scripts' }).waitFor();
  });

  test('filters and sorts scripts according to the URL, and removes the filter when the user goes back', async () => {
    await page.goto(`${product.baseUrl}/scripts`);
    await expect.poll(() => rows().count()).toBe(3);
    await page.getByRole('button', { name: /^Name/ }).click();
    await page
      .getByRole('columnheader', { name: /^Name/ })
      .and(page.locator('[aria-sort=ascending]'))
      .waitFor();
    await expect.poll(() => rows().nth(0).textContent()).toContain('bot');
    await page.getByLabel('Last run', { exact: true }).selectOption('failed');
    await expect.poll(() => rows().count()).toBe(1);
    expect(page.url()).toContain('sort=name&last_status=failed');
    await page.getByRole('searchbox', { name: 'Search scripts' }).fill('nothing');
    await page.getByRole('heading', { name: 'No matching scripts' }).waitFor();
    expect(await browsing.barriers()).toEqual([]);
    await page.goBack();
    await expect.poll(() => rows().count()).toBe(3);
    await expect.poll(() => rows().nth(0).textContent()).toContain('bot');
  });

  /** Chooses an action in the selection bar, confirms it, and waits until the selection bar disappears. */
  async function doToSelected(action: string, before: () => Promise<void> = async () => {}) {
    const bar = page.getByRole('toolbar');
    await bar.getByRole('button', { name: action, exact: true }).click();
    const dialog = page.getByRole('dialog');
    await before();
    await dialog.getByRole('button', { name: action, exact: true }).click();
    await dialog.waitFor({ state: 'detached' });
    await bar.waitFor({ state: 'detached' });
  }

  test('disables, moves and deletes selected scripts', async () => {
    await page.goto(`${product.baseUrl}/scripts?sort=name`);
    await select('Select bot').click();
    await select('Select quick').click({ modifiers: ['Shift'] });
    expect(await browsing.barriers()).toEqual([]);
    await doToSelected('Disable', async () => {
      await page.getByText('2 scripts will be disabled: no new runs start').waitFor();
      expect(await browsing.barriers()).toEqual([]);
    });
    await expect.poll(() => page.getByText('Disabled', { exact: true }).count()).toBe(4);
    await select('Select all scripts on this page').click();
    await doToSelected('Enable');
    await select('Select failing').click();
    await doToSelected('Move to group', async () => {
      await page.getByLabel('Group').last().selectOption({ label: 'monitoring' });
    });
    await page
      .getByRole('row', { name: /failing/ })
      .getByText('monitoring')
      .last()
      .waitFor();
    await select('Select failing').click();
    await select('Select quick').click();
    await doToSelected('Delete', async () => {
      const dialog = page.getByRole('dialog');
      expect(await dialog.getByRole('button', { name: 'Delete' }).isDisabled()).toBe(true);
      await dialog.getByLabel('Type “delete” to confirm').fill('delete');
    });
    await expect.poll(() => rows().count()).toBe(1);
  });

  test('lets operators stop and rerun runs, and offers viewers no selection', async () => {
    await browsing.signOut();
    await browsing.signIn(`${product.baseUrl}/runs`, 'operator@example.com');
    await select('Select all runs on this page').click();
    await page.getByRole('toolbar').getByRole('button', { name: 'Stop' }).waitFor();
    await page.goto(`${product.baseUrl}/scripts`);
    await select('Select bot').click();
    const buttons = page.getByRole('toolbar').getByRole('button');
    await expect
      .poll(() => buttons.allTextContents())
      .toEqual(['Disable', 'Stop runs', ''].map((text) => expect.stringContaining(text)));
    await browsing.signOut();
    await browsing.signIn(`${product.baseUrl}/runs`, 'viewer@example.com');
    await rows().first().waitFor();
    expect(await page.getByRole('checkbox').count()).toBe(0);
    expect(await browsing.barriers()).toEqual([]);
  });
});
