/** Resource history, the audit trail, and approvals of runs and changes by a second user, tested in a real browser
 *  against the real product. */
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { describeWith } from '../../scripts/testing/optional-service.ts';
import { productPassword, until, type Product } from '../../services/minimal/testing/product.ts';
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

describeWith(chromiumService, 'approvals', () => {
  let product: Product;
  let browsing: Browsing;
  let requester: Page;
  let second: Browsing;
  let scriptId: string;
  openDashboard(async (opened) => {
    ({ product, browsing, page: requester } = opened);
    scriptId = await product.script('Pay invoices', { 'main.py': 'print("paid")\n' });
    const { items } = await product.call<{ items: { id: string; name: string }[] }>(
      'GET',
      '/groups',
    );
    await product.call('POST', '/users', {
      name: 'Omar',
      email: 'omar@example.com',
      password: productPassword,
      role: 'operator',
      group_ids: items.filter(({ name }) => name === 'custom').map(({ id }) => id),
    });
    await browsing.signIn(`${product.baseUrl}/scripts/${scriptId}/settings`);
    second = await browsing.another();
    await second.signIn(`${product.baseUrl}/approvals`, 'omar@example.com');
  });

  async function request(): Promise<string> {
    const { run_id } = await product.run(scriptId);
    await requester.goto(`${product.baseUrl}/runs/${run_id}`);
    return run_id;
  }
  const banner = (page: Page) => page.getByRole('region', { name: 'Approval' });
  const status = (page: Page) => page.getByRole('status', { name: 'Run status' });

  test('are required once an administrator has protected the script', async () => {
    await requester.getByLabel('Require approval for runs').check();
    await requester.getByRole('button', { name: 'Save settings' }).click();
    await requester.getByText('Settings saved').waitFor();
    await request();
    await banner(requester).getByText('Another user must approve the run.').waitFor();
    expect(await banner(requester).getByRole('button').allInnerTexts()).toEqual(['Withdraw']);
    await requester.getByText('approval', { exact: true }).waitFor();
    expect(await browsing.barriers()).toEqual([]);
  });

  test('are granted by a second user, who sees the request in the list immediately', async () => {
    const link = second.page.getByRole('link', { name: 'Run of Pay invoices' });
    await link.waitFor();
    expect(await second.barriers()).toEqual([]);
    await link.click();
    await second.page.getByRole('button', { name: 'Approve' }).waitFor();
    expect(await second.barriers()).toEqual([]);
    await second.page.getByRole('button', { name: 'Approve' }).click();
    // The account menu also shows this email address, so the search is limited to `main`.
    await second.page.getByRole('main').getByText('omar@example.com').waitFor();
    await status(requester).getByText('Success').waitFor();
    expect(await banner(requester).count()).toBe(0);
  });

  test('can be refused on the run page', async () => {
    const runId = await request();
    await second.page.goto(`${product.baseUrl}/runs/${runId}`);
    await banner(second.page).getByRole('button', { name: 'Reject' }).click();
    await status(requester).getByText('Stopped').waitFor();
    await requester.getByRole('link', { name: 'Timeline' }).click();
    await requester.getByText('omar@example.com rejected the run.').waitFor();
  });

  test('can be withdrawn by the requester, and remain listed', async () => {
    await request();
    await banner(requester).getByRole('button', { name: 'Withdraw' }).click();
    await status(requester).getByText('Stopped').waitFor();
    await requester.goto(`${product.baseUrl}/approvals?view=mine`);
    for (const text of ['Withdrawn', 'Rejected', 'Approved']) {
      await requester.getByRole('cell', { name: text, exact: true }).waitFor();
    }
    expect(await browsing.barriers()).toEqual([]);
  });

  test('are required for changes, which are shown as a diff from the current version', async () => {
    const { items } = await product.call<{ items: { id: string; name: string }[] }>(
      'GET',
      '/groups',
    );
    await product.call('POST', '/users', {
      name: 'Dora',
      email: 'dora@example.com',
      password: productPassword,
      role: 'developer',
      group_ids: items.filter(({ name }) => name === 'custom').map(({ id }) => id),
    });
    const protection = { protected: { run: false, save: true } };
    await product.call('PATCH', `/scripts/${scriptId}`, protection);
    await requester.goto(`${product.baseUrl}/scripts/${scriptId}`);
    const editor = requester.getByRole('textbox', { name: 'Code of main.py' });
    await editor.click();
    await requester.keyboard.press('ControlOrMeta+End');
    await requester.keyboard.type('print("twice")');
    await requester.keyboard.press('ControlOrMeta+s');
    const notice = requester.getByRole('status').filter({ hasText: 'Your change is waiting' });
    await notice.getByRole('link', { name: 'View' }).waitFor();
    await requester.getByText('Your change is waiting for approval', { exact: true }).waitFor();
    expect(await browsing.barriers()).toEqual([]);
    const developer = await browsing.another();
    await developer.signIn(`${product.baseUrl}/approvals`, 'dora@example.com');
    const { page } = developer;
    await page.getByRole('link', { name: 'Change to Pay invoices' }).click();
    await page.getByRole('region', { name: 'Changes to main.py' }).getByText('twice').waitFor();
    expect(await developer.barriers()).toEqual([]);
    await page.getByRole('button', { name: 'Approve' }).click();
    await page.getByRole('main').getByText('dora@example.com').waitFor();
    await notice.waitFor({ state: 'detached' });
    const { version } = await product.call<{ version: number }>('GET', `/scripts/${scriptId}`);
    expect(version).toBeGreaterThan(1);
  });
});
