/** What starts scripts, and who may do what, in a real browser on the real product. */
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { describeWith } from '../../scripts/testing/optional-service.ts';
import { Browsing, chromiumService } from './testing/browsing.ts';
import { Product } from './testing/product.ts';

describeWith(chromiumService, 'the pages of the dashboard', () => {
  let product: Product;
  let browsing: Browsing;
  let page: Page;
  let scriptId: string;
  beforeAll(async () => {
    [product, browsing] = await Promise.all([Product.start(), Browsing.start()]);
    ({ page } = browsing);
    scriptId = await product.script('night report', { 'main.py': 'print("rows")\n' });
    await browsing.signIn(`${product.baseUrl}/schedules`);
  });
  afterEach(() => expect(browsing.complaints).toEqual([]));
  afterAll(async () => {
    await browsing.close();
    await product.stop();
    await product.remove();
  });

  test('a schedule is made with its next due times in view, and its ledger fills by itself', async () => {
    await page.getByRole('button', { name: 'New schedule' }).first().click();
    const dialog = page.getByRole('dialog', { name: 'New schedule' });
    await dialog.getByLabel('Script').pressSequentially('night');
    await page.getByRole('option', { name: 'night report' }).click();
    await dialog.getByLabel('Cron expression').fill('0 9 * *');
    await dialog.getByText('A cron expression has 5 fields').waitFor();
    await dialog.getByLabel('Cron expression').fill('30 2 * * *');
    await dialog.getByText('Every day at 02:30').waitFor();
    await dialog.getByLabel('Time zone').fill('America/New_York');
    await dialog.getByRole('columnheader', { name: 'America/New_York' }).waitFor();
    expect(await browsing.barriers()).toEqual([]);
    await dialog.getByText('Every so often').click();
    await dialog.getByRole('spinbutton', { name: 'Every' }).fill('1');
    await dialog.getByLabel('Unit').selectOption('seconds');
    await dialog.getByRole('button', { name: 'Create schedule' }).click();

    await page.getByRole('heading', { name: 'Every second' }).waitFor();
    const ledger = page.getByRole('table', { name: 'Due times and what became of them' });
    await ledger
      .getByText(/Fired|Late/)
      .first()
      .waitFor();
    await page.getByRole('switch', { name: 'Enabled' }).click();
    await page.getByText('Disabled', { exact: true }).waitFor();
    expect(await browsing.barriers()).toEqual([]);

    await page.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('button', { name: 'Delete schedule' }).click();
    await page.getByRole('heading', { name: 'No schedules yet' }).waitFor();
    expect(page.url()).toContain(`/scripts/${scriptId}/schedules`);
  });

  test('a webhook shows its address once, and a call of it starts the script', async () => {
    await page.goto(`${product.baseUrl}/scripts/${scriptId}/webhooks`);
    await page.getByRole('button', { name: 'New webhook' }).click();
    await page.getByLabel('Name').fill('push');
    await page.getByRole('button', { name: 'Create webhook' }).click();
    const dialog = page.getByRole('dialog', { name: 'Address of “push”' });
    const address = (await dialog.getByRole('region', { name: 'address' }).textContent()) ?? '';
    expect(address).toContain(`${product.baseUrl}/hooks/whk_`);
    await dialog.getByText('Python').click();
    await dialog.getByText('urllib.request').first().waitFor();
    expect(await browsing.barriers()).toEqual([]);
    await dialog.getByRole('button', { name: 'Make a test call' }).click();
    await dialog.getByText('The call was taken.').waitFor();
    await dialog.getByRole('button', { name: 'I have copied it' }).click();
    const row = page.getByRole('row', { name: /push/ });
    await row.getByText('just now').waitFor();
    expect(await browsing.barriers()).toEqual([]);
    expect(await page.content()).not.toContain('whk_');

    await row.getByRole('button', { name: 'Actions of push' }).click();
    await page.getByRole('menuitem', { name: 'New address' }).click();
    await page.getByRole('button', { name: 'Make a new address' }).click();
    await page.getByRole('button', { name: 'I have copied it' }).click();
    expect((await fetch(address, { method: 'POST' })).status).toBe(404);

    await row.getByRole('button', { name: 'Actions of push' }).click();
    await page.getByRole('menuitem', { name: 'Delete' }).click();
    await page.getByRole('button', { name: 'Delete webhook' }).click();
    await page.getByRole('heading', { name: 'No webhooks yet' }).waitFor();
  });

  test('a secret is written and never read; what others set appears by itself', async () => {
    await page.getByRole('link', { name: 'Secrets' }).click();
    await page.getByRole('button', { name: 'New secret' }).click();
    await page.getByLabel('Name').fill('API_TOKEN');
    await page.getByLabel('Value').fill('a value that nobody sees');
    await page.getByRole('button', { name: 'Set the secret' }).click();
    await page
      .getByRole('row', { name: /API_TOKEN/ })
      .getByText('Never')
      .waitFor();
    expect(await page.content()).not.toContain('a value that nobody sees');
    await product.call('PUT', `/scripts/${scriptId}/secrets/OTHER`, { value: 'from elsewhere' });
    await page.getByRole('row', { name: /OTHER/ }).waitFor();
    expect(await browsing.barriers()).toEqual([]);
    for (const name of ['OTHER', 'API_TOKEN']) {
      await page.getByRole('button', { name: `Actions of ${name}` }).click();
      await page.getByRole('menuitem', { name: 'Delete' }).click();
      await page.getByRole('button', { name: 'Delete secret' }).click();
      await page.getByRole('row', { name }).waitFor({ state: 'detached' });
    }
    await page.getByRole('heading', { name: 'No secrets yet' }).waitFor();
  });
});
