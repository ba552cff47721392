/** The main tasks of the dashboard, tested in a real browser against the real product. */
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { describeWith } from '../../scripts/testing/optional-service.ts';
import { chromiumService, type Browsing } from './testing/browsing.ts';
import { openDashboard } from './testing/dashboard.ts';
import { productPassword, until, type Product } from '../../services/minimal/testing/product.ts';

const source = `import sys, time
for number in range(5):
    print("line", number)
    time.sleep(0.2)
print("to stderr", file=sys.stderr)
`;
const endless = 'import time\nprint("up")\ntime.sleep(1000)\n';

describeWith(chromiumService, 'the dashboard', () => {
  let product: Product;
  let browsing: Browsing;
  let page: Page;
  openDashboard(async (opened) => {
    ({ product, browsing, page } = opened);
  });
  /** Signs in again and returns the names of the visible scripts. */
  const scriptNames = async () => {
    await product.signIn();
    const { items } = await product.call<{ items: { name: string }[] }>('GET', '/scripts');
    return items.map(({ name }) => name);
  };

  test('lets a user sign in, create a script, run it, follow its log and stop a run', async () => {
    await page.goto(product.baseUrl);
    await page.getByLabel('Email').fill('admin@example.com');
    await page.getByLabel('Password').fill('not the password');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('alert').waitFor();
    await page.getByLabel('Password').fill(productPassword);
    await page.getByRole('button', { name: 'Sign in' }).click();

    await page.getByRole('img', { name: 'Runs: none' }).waitFor();
    await page.getByRole('link', { name: 'Queued' }).waitFor();
    await page.getByRole('link', { name: 'Scripts', exact: true }).click();
    await page.getByRole('button', { name: 'New script' }).first().click();
    const dialog = page.getByRole('dialog', { name: 'New script' });
    await dialog.getByLabel('Name').fill('from the browser');
    await dialog.getByRole('button', { name: 'Create script' }).click();

    const editor = page.getByRole('textbox', { name: 'Code of main.py' });
    await editor.fill(source);
    await page.getByRole('button', { name: 'Save & run' }).click();
    const log = page.getByRole('region', { name: 'Log', exact: true });
    await log.getByText('line 4').waitFor();
    await log.locator('[data-stream="stderr"]').getByText('to stderr').waitFor();
    await page.getByRole('status', { name: 'Run status' }).getByText('Success').waitFor();

    await editor.fill(endless);
    await page.getByRole('button', { name: 'Save & run' }).click();
    await log.getByText('up', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Stop', exact: true }).click();
    await page.getByRole('status', { name: 'Run status' }).getByText('Stopped').waitFor();

    await page.getByRole('link', { name: 'Runs', exact: true }).last().click();
    const history = page.getByRole('table');
    await history.getByText('Success').waitFor();
    await history.getByText('Stopped').waitFor();
  });

  test('asks for declared parameters in a form, and offers the previous values', async () => {
    await product.call('POST', '/scripts', {
      name: 'Weather',
      parameters_schema: {
        type: 'object',
        required: ['city'],
        properties: {
          city: { type: 'string', title: 'City' },
          days: { type: 'integer', maximum: 7 },
        },
      },
    });
    await page.goto(`${product.baseUrl}/scripts`);
    await page.getByRole('button', { name: 'Run Weather' }).click();
    const form = page.getByRole('dialog', { name: 'Run Weather' });
    await form.getByRole('button', { name: 'Run' }).click();
    await form.getByText('City is required.').waitFor();
    await form.getByLabel('City').fill('Bern');
    await form.getByLabel('days').fill('9');
    await form.getByRole('button', { name: 'Run' }).click();
    await form.getByText('must be <= 7').waitFor();
    await form.getByLabel('days').fill('3');
    await form.getByLabel('Time limit').fill('0');
    await form.getByRole('button', { name: 'Run' }).click();
    await form.getByText('must be >= 1').waitFor();
    await form.getByLabel('Time limit').fill('77');
    await form.getByLabel('Queue when busy').check();
    await form.getByRole('button', { name: 'Run' }).click();
    await page.getByRole('status', { name: 'Run status' }).getByText('Success').waitFor();
    const runId = new URL(page.url()).pathname.split('/').at(-1);
    const { items } = await product.call<{ items: object[] }>('GET', `/runs/${runId}/events`);
    expect(items[0]).toMatchObject({ data: { limits: { wall_clock_seconds: 77 } } });
    await page.getByRole('button', { name: 'Run with parameters…' }).click();
    expect(await form.getByLabel('City').inputValue()).toBe('Bern');
    expect(await browsing.barriers()).toEqual([]);
    await page.goto(`${product.baseUrl}/scripts`);
    await page.getByRole('img', { name: 'Recent runs, newest first: success' }).first().waitFor();
  });

  test('loads the first page, including its charts, with less than 225 kB of JavaScript', async () => {
    await page.goto(product.baseUrl);
    await page.getByRole('link', { name: 'Queued' }).waitFor();
    await browsing.untilQuiet();
    const scripts = await page.evaluate(() =>
      performance
        .getEntriesByType('resource')
        .filter(({ name }) => name.endsWith('.js'))
        .map((entry) => ('encodedBodySize' in entry ? Number(entry.encodedBodySize) : 0)),
    );
    expect(scripts.length).toBeGreaterThan(10);
    const bytes = scripts.reduce((sum, one) => sum + one, 0);
    expect(bytes).toBeGreaterThan(50_000);
    expect(bytes).toBeLessThan(225_000);
    expect(scripts.length).toBeLessThanOrEqual(25);
  });

  test('shows runs to a viewer, but no code or forbidden actions', async () => {
    const { items } = await product.call<{ items: { id: string; name: string }[] }>(
      'GET',
      '/groups',
    );
    const groupNamed = (wanted: string) => items.find(({ name }) => name === wanted)?.id;
    for (const [name, role, group] of [
      ['vera', 'viewer', 'custom'],
      ['dan', 'developer', 'bots'],
    ] as const) {
      const account = { name, role, email: `${name}@example.com`, password: productPassword };
      await product.call('POST', '/users', { ...account, group_ids: [groupNamed(group)] });
    }
    await browsing.signOut();
    expect(await browsing.barriers()).toEqual([]);
    await browsing.signIn(`${product.baseUrl}/scripts`, 'vera@example.com');
    const row = page.getByRole('row', { name: /from the browser/ });
    await row.getByText('Stopped').waitFor();
    expect(await page.getByRole('button', { name: /New script|Run/ }).count()).toBe(0);
    const menu = page.getByRole('navigation', { name: 'Main' });
    expect(await menu.getByRole('link', { name: /Audit|People|Chains|Backups/ }).count()).toBe(0);
    await row.getByRole('link', { name: 'from the browser' }).click();
    await page.waitForURL(/\/overview$/);
    expect(await page.getByRole('link', { name: 'Code' }).count()).toBe(0);
    await page.getByRole('table').getByRole('link').first().click();
    await page.getByRole('region', { name: 'Log', exact: true }).getByText('up').waitFor();
    expect(await page.getByRole('button', { name: /Stop|Run again/ }).count()).toBe(0);
    await page.setViewportSize({ width: 390, height: 844 });
    expect(await browsing.barriers()).toEqual([]);
    for (const path of ['/audit', '/people', '/chains', '/notifications/channels']) {
      await page.goto(product.baseUrl + path);
      await page.getByText('Your role does not allow this.').waitFor();
    }
    expect(await browsing.barriers()).toEqual([]);
    await page.setViewportSize({ width: 1280, height: 800 });
  });

  test('limits a developer to the scripts of the developer’s groups', async () => {
    const { items } = await product.call<{ items: { id: string }[] }>('GET', '/scripts');
    await browsing.signOut();
    await browsing.signIn(`${product.baseUrl}/scripts/${items[0]?.id}`, 'dan@example.com');
    await page.getByText('404').waitFor();
    await page.goto(`${product.baseUrl}/scripts`);
    await page.getByRole('button', { name: 'New script' }).first().click();
    const dialog = page.getByRole('dialog', { name: 'New script' });
    await dialog.getByLabel('Name').fill('a bot');
    await dialog.getByRole('button', { name: 'Create script' }).click();
    await page.getByRole('textbox', { name: 'Code of main.py' }).waitFor();
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    await page.getByRole('status', { name: 'Run status' }).getByText('Success').waitFor();
    for (const width of [1280, 390]) {
      await page.setViewportSize({ width, height: 844 });
      expect(await browsing.barriers(), String(width)).toEqual([]);
    }
    await page.setViewportSize({ width: 1280, height: 800 });
    await page.goto(`${product.baseUrl}/scripts`);
    await page.getByRole('row', { name: /a bot/ }).waitFor();
    expect(await page.getByRole('row').count()).toBe(2);
    await browsing.signOut();
    await browsing.signIn(`${product.baseUrl}/scripts`);
  });

  test('shows new scripts and runs from other clients without sending a request', async () => {
    await page.getByRole('link', { name: 'Scripts', exact: true }).click();
    await page.getByRole('link', { name: 'from the browser', exact: true }).waitFor();
    const asked: string[] = [];
    page.on('request', (request) => {
      if (request.url().includes('/api/')) asked.push(request.url());
    });
    const scriptId = await product.script('from elsewhere', { 'main.py': 'print("hello")' });
    const row = page.getByRole('row', { name: /from elsewhere/ });
    await row.getByText('Never run').waitFor();
    await product.run(scriptId);
    await row.getByText('Success').waitFor();
    expect(asked).toEqual([]);
  });

  test(
    'lets an administrator create, verify, download and restore a backup',
    { timeout: 180_000 },
    async () => {
      await page.getByRole('link', { name: 'Backups' }).click();
      await page.getByRole('button', { name: 'Create backup' }).click();
      const row = page.getByRole('row').filter({ hasText: 'Manual' });
      await row.getByText('Complete').waitFor();
      await row.getByRole('button', { name: /^Actions for backup/ }).click();
      await page.getByRole('menuitem', { name: 'Verify' }).click();
      await row.getByText('just now').waitFor();
      expect(await browsing.barriers()).toEqual([]);
      await product.script('After the backup', { 'main.py': '' });

      // Replaces the file dialog with a file in the browser's own storage.
      await page.evaluate(`window.showSaveFilePicker = async ({ suggestedName }) =>
        (window.chosen = await (await navigator.storage.getDirectory())
          .getFileHandle(suggestedName, { create: true }))`);
      await row.getByRole('button', { name: /^Actions for backup/ }).click();
      await page.getByRole('menuitem', { name: 'Download' }).click();
      await page.getByText(/^Saved backup-.*\.tar$/).waitFor();
      const begin = await page.evaluate(
        `window.chosen.getFile().then((file) => file.slice(257, 262).text())`,
      );
      expect(begin).toBe('ustar');

      await row.getByRole('button', { name: /^Actions for backup/ }).click();
      await page.getByRole('menuitem', { name: 'Restore' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByRole('button', { name: 'Restore' }).click();
      await dialog.getByText('Confirm the data loss first.').waitFor();
      await dialog.getByLabel(/^I understand/).check();
      await dialog.getByRole('button', { name: 'Restore' }).click();
      // The restore may already be complete before the page receives the event that announces its start.
      await until('the script from after the backup no longer exists', async () => {
        const names = await scriptNames().catch(() => undefined);
        return names?.includes('After the backup') === false ? true : undefined;
      });
      await browsing.signIn(`${product.baseUrl}/scripts`);
      await page.getByRole('link', { name: 'from the browser' }).waitFor();
      expect(await page.getByText('After the backup').count()).toBe(0);
      // The browser logs an error when its WebSocket cannot connect.
      browsing.forgive('WebSocket connection');
    },
  );
});
