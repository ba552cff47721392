/** Approvals of runs and changes by a second user, tested in a real browser against the real product. */
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { describeWith } from '../../scripts/testing/optional-service.ts';
import { productPassword, type Product } from '../../services/minimal/testing/product.ts';
import { chromiumService, type Browsing } from './testing/browsing.ts';
import { openDashboard } from './testing/dashboard.ts';

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
