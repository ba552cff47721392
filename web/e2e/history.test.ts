/** The history of resources and the audit trail, in a real browser with the real product. */
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { describeWith } from '../../scripts/testing/optional-service.ts';
import { until, type Product } from '../../services/minimal/testing/product.ts';
import { chromiumService, type Browsing } from './testing/browsing.ts';
import { openDashboard } from './testing/dashboard.ts';

describeWith(chromiumService, 'the history of a resource', () => {
  let product: Product;
  let browsing: Browsing;
  let page: Page;
  let scriptId: string;
  openDashboard(async (opened) => {
    ({ product, browsing, page } = opened);
    scriptId = await product.script('Daily report', { 'main.py': 'print(1)\n' });
    await product.call('POST', '/webhooks', { script_id: scriptId, name: 'Shop' });
    await product.call('POST', '/schedules', { script_id: scriptId, cron: '0 3 * * *' });
    await product.untilFinished((await product.run(scriptId)).run_id);
    await until('the trail has the run', async () => {
      const path = '/audit?action=run_finished';
      const { items } = await product.call<{ items: object[] }>('GET', path);
      return items[0];
    });
    await browsing.signIn(product.baseUrl);
  });

  const history = () => page.getByRole('table', { name: 'History' });

  test('names the people who changed a script, and opens Replay at a change', async () => {
    await page.goto(`${product.baseUrl}/scripts/${scriptId}/runs`);
    await page.getByRole('link', { name: 'History' }).click();
    const saved = history().getByRole('row', { name: /File saved/ });
    await saved.first().getByText('admin@example.com').waitFor();
    expect(await browsing.barriers()).toEqual([]);
    await saved
      .first()
      .getByRole('link', { name: /^Replay of/ })
      .click();
    await page.waitForURL('**/replay?at=*');
  });

  test('lists the changes of a schedule, a webhook and a user', async () => {
    await page.goto(`${product.baseUrl}/scripts/${scriptId}/schedules`);
    await page.getByRole('link', { name: 'Every day at 03:00' }).click();
    await page.getByRole('button', { name: 'History' }).click();
    await history().getByText('Schedule created').waitFor();
    expect(await browsing.barriers()).toEqual([]);
    await page.goto(`${product.baseUrl}/scripts/${scriptId}/webhooks`);
    await page.getByRole('button', { name: 'Actions of Shop' }).click();
    await page.getByRole('menuitem', { name: 'History' }).click();
    await page.getByRole('dialog', { name: 'History of Shop' }).waitFor();
    await history().getByText('Webhook created').waitFor();
    await page.goto(`${product.baseUrl}/people`);
    await page
      .getByRole('button', { name: /^Actions of/ })
      .first()
      .click();
    await page.getByRole('menuitem', { name: 'History' }).click();
    await page.getByRole('dialog', { name: 'History of admin@example.com' }).waitFor();
    await page.getByRole('checkbox', { name: 'People only' }).uncheck();
    await history().getByText('User created').waitFor();
  });

  test('shows the actions of people in the audit trail, with names, until all are asked for', async () => {
    await page.goto(`${product.baseUrl}/audit`);
    const trail = page.getByRole('table', { name: 'Audit trail' });
    await trail.getByText('webhook Shop').waitFor();
    await trail.getByText('schedule Daily report').waitFor();
    expect(await trail.getByText('Run finished').count()).toBe(0);
    await page.getByRole('combobox', { name: 'Actors', exact: true }).selectOption('All actors');
    await page.waitForURL('**/audit?actors=all');
    await trail.getByText('Run finished').waitFor();
    expect(await browsing.barriers()).toEqual([]);
  });
});
