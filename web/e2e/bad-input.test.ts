/** Error responses and hostile input, tested in a real browser against the real product. */
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { describeWith } from '../../scripts/testing/optional-service.ts';
import { chromiumService, type Browsing } from './testing/browsing.ts';
import { openDashboard } from './testing/dashboard.ts';
import type { Product } from '../../services/minimal/testing/product.ts';

/** The URLs of pages whose lists may be long. */
const lists = [
  '/',
  '/scripts',
  '/runs',
  '/schedules',
  '/chains',
  '/notifications',
  '/notifications/channels',
  '/notifications/rules',
  '/notifications/deliveries',
  '/audit',
  '/replay',
  '/people',
  '/backups',
  '/updates',
  '/system',
  '/models',
  '/account',
];
const outOfOrder = { title: 'Out of order', code: 'out_of_order', status: 418, detail: 'No tea.' };
const markup = '<img src=x onerror="hurt=1"><script>hurt=1</script><b>bold</b>&amp;';

describeWith(chromiumService, 'the dashboard with failing responses or hostile input', () => {
  let product: Product;
  let browsing: Browsing;
  let page: Page;
  openDashboard(async (opened) => {
    ({ product, browsing, page } = opened);
    await browsing.signIn(product.baseUrl);
  });

  const code = () => page.getByRole('textbox', { name: 'Code of main.py' });
  const saved = async (scriptId: string) =>
    await (await product.fetch('GET', `/scripts/${scriptId}/files/main.py`)).text();

  test(
    'shows an error for each list that fails to load, and offers a retry',
    { timeout: 120_000 },
    async () => {
      const script = `/scripts/${await product.script('steady', { 'main.py': '' })}`;
      const known = ['/api/v1/auth/refresh', '/api/v1/auth/me', `/api/v1${script}`];
      const tabs = ['/runs', '/schedules', '/webhooks', '/secrets'].map((tab) => script + tab);
      for (const path of [...lists, ...tabs]) {
        await page.route(
          ({ pathname }) => pathname.startsWith('/api/') && !known.includes(pathname),
          (route) => route.fulfill({ status: 418, json: outOfOrder }),
        );
        const url = product.baseUrl + path;
        // Links take a third of the time.
        await (page.url() === url ? page.goto(url) : browsing.follow(url));
        const alerts = page.getByRole('alert').filter({ hasText: outOfOrder.detail });
        const again = alerts.getByRole('button', { name: 'Try again' });
        await again.first().waitFor();
        // Waits for pending requests. Otherwise, their errors would appear after the data is reloaded.
        await browsing.untilQuiet();
        await page.unrouteAll();
        const left = async () => {
          if ((await again.count()) > 0) await again.first().click();
          await browsing.untilQuiet();
          return await alerts.count();
        };
        await expect.poll(left, { message: path }).toBe(0);
        expect(browsing.complaints, path).toEqual([]);
      }
    },
  );

  test(
    'keeps ten megabytes of pasted text in the editor, and saves the file only after it is shortened',
    { timeout: 180_000 },
    async () => {
      const scriptId = await product.script('big', { 'main.py': '' });
      await page.goto(`${product.baseUrl}/scripts/${scriptId}`);
      await code().click();
      await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
      await page.evaluate(`navigator.clipboard.writeText('# ten bytes\\n'.repeat(1024 * 1024))`);
      await page.keyboard.press('Control+v');
      await page.keyboard.press('Control+s');
      await page.getByText('Could not save').waitFor({ timeout: 30_000 });
      await page.getByText(/may have at most \d+ bytes/).waitFor();
      await page.getByRole('button', { name: 'main.py (unsaved)' }).waitFor();
      await page.keyboard.press('Control+a');
      await page.keyboard.type('print("less")');
      await page.keyboard.press('Control+s');
      await page.getByText('Saved', { exact: true }).waitFor();
      expect(await saved(scriptId)).toBe('print("less")');
    },
  );

  test(
    'shows markup in names, log lines and messages as plain text',
    { timeout: 120_000 },
    async () => {
      const source = `print(${JSON.stringify(markup)})\nraise RuntimeError(${JSON.stringify(markup)})\n`;
      const scriptId = await product.script(markup, { 'main.py': source });
      const { run_id: runId } = await product.run(scriptId, { params: { name: markup } });
      await product.untilFinished(runId);
      const tabs = ['', '/runs', '/settings'].map((tab) => `/scripts/${scriptId}${tab}`);
      const views = ['', '?view=why', '?view=data', '?view=events'].map(
        (view) => `/runs/${runId}${view}`,
      );
      for (const path of [
        '/',
        '/scripts',
        '/runs',
        '/notifications',
        '/audit',
        ...tabs,
        ...views,
      ]) {
        await browsing.follow(product.baseUrl + path);
        await page.getByRole('heading').first().waitFor();
        await browsing.untilQuiet();
        expect(await page.locator('img[src=x], main script, main b').count(), path).toBe(0);
        expect(await page.evaluate(`'hurt' in window`), path).toBe(false);
      }
      await page.goto(`${product.baseUrl}/runs/${runId}`);
      await page.getByRole('heading', { level: 1 }).getByText(markup).waitFor();
      const log = page.getByRole('region', { name: 'Log', exact: true });
      await log.getByText(markup, { exact: true }).waitFor();
      await page.getByLabel('Search the log').fill('<b>bold');
      await log.locator('mark').getByText('<b>bold').first().waitFor();
      await page.keyboard.press('Control+k');
      await page.getByPlaceholder('Search pages').fill('<img');
      await page.getByRole('option', { name: markup }).first().waitFor();
      expect(await page.evaluate(`'hurt' in window`)).toBe(false);
    },
  );
});
