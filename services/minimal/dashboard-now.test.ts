/** What the dashboard says of now and of what comes, in a real browser. */
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { describeWith } from '../../scripts/testing/optional-service.ts';
import { Browsing, chromiumService } from './testing/browsing.ts';
import { Product } from './testing/product.ts';

describeWith(chromiumService, 'the present in the dashboard', () => {
  let product: Product;
  let browsing: Browsing;
  let page: Page;
  let scriptId: string;
  beforeAll(async () => {
    [product, browsing] = await Promise.all([Product.start(), Browsing.start()]);
    ({ page } = browsing);
    scriptId = await product.script('night report', { 'main.py': 'raise SystemExit(3)\n' });
    await browsing.signIn(product.baseUrl);
  });
  afterEach(() => expect(browsing.complaints).toEqual([]));
  afterAll(async () => {
    await browsing.close();
    await product.stop();
    await product.remove();
  });

  const region = (name: string) => page.getByRole('region', { name });

  test('what fails and what is due next comes by itself, with the fires of the next day', async () => {
    await region('Failing').getByText('The last run of every script went well.').waitFor();
    const { run_id: runId } = await product.run(scriptId);
    await product.untilFinished(runId);
    await region('Failing').getByRole('link', { name: 'night report' }).waitFor();
    await region('Due next').getByText('No schedule is due.').waitFor();
    await product.call('POST', '/schedules', { script_id: scriptId, cron: '0 3 * * *' });
    await region('Due next').getByRole('link', { name: 'night report' }).waitFor();
    await page.getByRole('img', { name: 'Due in the next 24 hours: 1 in all' }).waitFor();
    expect(await browsing.barriers()).toEqual([]);
    await region('Failing').getByRole('link', { name: 'All 1' }).click();
    await page.getByRole('heading', { level: 1, name: 'Scripts' }).waitFor();
    await page.getByRole('link', { name: 'night report' }).waitFor();
    expect(page.url()).toContain('last_status=failed');
  });

  test('a stretch of time that is drawn on a chart is shown by all, and is in the address', async () => {
    await page.goto(product.baseUrl);
    const chart = page.getByRole('img', { name: /^Runs: / });
    await chart.locator('canvas').waitFor();
    const box = await chart.boundingBox();
    if (box === null) throw new Error('the chart is not shown');
    const middle = box.y + box.height / 2;
    await page.mouse.move(box.x + box.width * 0.4, middle);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width * 0.6, middle, { steps: 4 });
    await page.mouse.up();
    const runs = page.getByRole('link', { name: 'Runs of this time' });
    await runs.waitFor();
    const asked = new URL(page.url()).searchParams;
    const hours = (Date.parse(asked.get('to') ?? '') - Date.parse(asked.get('from') ?? '')) / 3.6e6;
    expect(hours).toBeGreaterThan(3);
    expect(hours).toBeLessThan(7);
    expect(await browsing.barriers()).toEqual([]);
    await page.goBack();
    await runs.waitFor({ state: 'detached' });
    await page.goForward();
    await runs.click();
    await page.getByRole('heading', { level: 1, name: 'Runs' }).waitFor();
    expect(new URL(page.url()).searchParams.get('from')).toBe(asked.get('from'));
  });
});
