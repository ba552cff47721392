/** Resource history and the audit trail, tested in a real browser against the real product. */
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
    const archiveId = await product.script('Archive', { 'main.py': 'print(2)\n' });
    const chain = { source_script_id: scriptId, target_script_id: archiveId, on: 'success' };
    await product.call('POST', '/chains', chain);
    await product.call('PUT', `/scripts/${scriptId}/secrets/TOKEN`, { value: 'not to be seen' });
    const { group_id: groupId } = await product.call<{ group_id: string }>(
      'GET',
      `/scripts/${scriptId}`,
    );
    await product.call('PUT', `/groups/${groupId}/secrets/SHARED`, { value: 'not to be seen' });
    await product.untilFinished((await product.run(scriptId)).run_id);
    await until('the trail has the run', async () => {
      const path = '/audit?action=run_finished';
      const { items } = await product.call<{ items: object[] }>('GET', path);
      return items[0];
    });
    await browsing.signIn(product.baseUrl);
  });

  const history = () => page.getByRole('table', { name: 'History' });

  test('names the users who changed a script, and opens the replay at a change', async () => {
    await browsing.follow(`${product.baseUrl}/scripts/${scriptId}/runs`);
    await page.getByRole('link', { name: 'History' }).click();
    const saved = history().getByRole('row', { name: /File saved/ });
    await saved.first().getByText('admin@example.com').waitFor();
    expect(await browsing.barriers()).toEqual([]);
    await saved
      .first()
      .getByRole('link', { name: /^Replay at/ })
      .click();
    await page.waitForURL('**/replay?at=*');
  });

  test('lists the changes to a schedule, a webhook and a user', async () => {
    await browsing.follow(`${product.baseUrl}/scripts/${scriptId}/schedules`);
    await page.getByRole('link', { name: 'Every day at 03:00' }).click();
    await page.getByRole('button', { name: 'History' }).click();
    await history().getByText('Schedule created').waitFor();
    expect(await browsing.barriers()).toEqual([]);
    await browsing.follow(`${product.baseUrl}/scripts/${scriptId}/webhooks`);
    await page.getByRole('button', { name: 'Actions for Shop' }).click();
    await page.getByRole('menuitem', { name: 'History' }).click();
    await page.getByRole('dialog', { name: 'History of Shop' }).waitFor();
    await history().getByText('Webhook created').waitFor();
    await browsing.follow(`${product.baseUrl}/people`);
    await page.getByRole('button', { name: 'Actions for admin' }).click();
    await page.getByRole('menuitem', { name: 'History' }).click();
    await page.getByRole('dialog', { name: 'History of admin@example.com' }).waitFor();
    await page.getByRole('checkbox', { name: 'People only' }).uncheck();
    await history().getByText('User created').waitFor();
  });

  test('lists the changes to a chain, a group and a script’s secrets', async () => {
    const open = async (dialog: string) => {
      await page.getByRole('dialog', { name: `History of ${dialog}` }).waitFor();
    };
    await browsing.follow(`${product.baseUrl}/chains`);
    await page.getByRole('button', { name: /Daily report.*Archive/ }).click();
    await page.getByRole('button', { name: 'History' }).click();
    await open('the chain Daily report → Archive');
    await history().getByText('Chain created').waitFor();
    await browsing.follow(`${product.baseUrl}/people`);
    await page.getByRole('button', { name: 'Actions for ETL' }).click();
    await page.getByRole('menuitem', { name: 'History' }).click();
    await open('ETL');
    await page.getByRole('checkbox', { name: 'People only' }).uncheck();
    await history().getByText('Group created').waitFor();
    await browsing.follow(`${product.baseUrl}/scripts/${scriptId}/secrets`);
    await page.getByRole('button', { name: 'History', exact: true }).click();
    await open('the secrets');
    await history().getByText('Secret set').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Group history' }).click();
    await history().getByText('Group secret set').waitFor();
    expect(await browsing.barriers()).toEqual([]);
  });

  test('is part of the audit trail, which can be searched by parts of names and filtered with pickers', async () => {
    await browsing.follow(`${product.baseUrl}/audit`);
    const trail = page.getByRole('table', { name: 'Audit trail' });
    await page.getByLabel('Person, action or name').fill('sho');
    await page.waitForURL('**/audit?q=sho');
    await trail.getByText('webhook Shop').waitFor();
    await expect.poll(() => trail.getByText('Script created').count()).toBe(0);
    await page.getByRole('link', { name: 'Clear all' }).click();
    await page.getByRole('combobox', { name: 'Action', exact: true }).fill('script cr');
    await page.getByRole('option', { name: 'Script created' }).click();
    await page.waitForURL('**/audit?action=script_created');
    await trail.getByText('script Daily report').waitFor();
    await page.getByRole('button', { name: 'Time: Any time' }).click();
    await page.getByRole('textbox', { name: 'To', exact: true }).fill('2020-01-01');
    await page.getByRole('button', { name: 'From: calendar' }).click();
    await page.getByRole('button', { name: 'Previous month' }).click();
    expect(await browsing.barriers()).toEqual([]);
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Apply' }).click();
    await page.getByText('No matching entries').waitFor();
    expect(page.url()).toContain('to=2020-01-01');
  });

  test('appears in the audit trail, which shows only user actions by default', async () => {
    await browsing.follow(`${product.baseUrl}/audit`);
    const trail = page.getByRole('table', { name: 'Audit trail' });
    await trail.getByText('webhook Shop').waitFor();
    await trail.getByText('schedule Daily report').waitFor();
    expect(await trail.getByText('Run finished').count()).toBe(0);
    await page.getByRole('combobox', { name: 'Actors', exact: true }).selectOption('All actors');
    await page.waitForURL('**/audit?actors=all');
    await trail.getByText('Run finished').first().waitFor();
    expect(await browsing.barriers()).toEqual([]);
  });
});
