/** Page details that could break unnoticed, tested in a real browser against the real product. */
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { describeWith } from '../../scripts/testing/optional-service.ts';
import { until, type Product } from '../../services/minimal/testing/product.ts';
import { chromiumService, type Browsing } from './testing/browsing.ts';
import { openDashboard } from './testing/dashboard.ts';

const waiting = 'import time\nprint("waiting", flush=True)\ntime.sleep(600)\n';
const alternating = `import sys
for number in range(100):
    print("out", number)
    print("err", number, file=sys.stderr)
`;

describeWith(chromiumService, 'dashboard details', () => {
  let product: Product;
  let browsing: Browsing;
  let page: Page;
  openDashboard(async (opened) => {
    ({ product, browsing, page } = opened);
    await browsing.signIn(product.baseUrl);
  });

  const open = (path: string) => browsing.follow(product.baseUrl + path);

  /** Starts a run and waits until the script is executing. */
  async function running(scriptId: string): Promise<string> {
    const { run_id: runId } = await product.run(scriptId);
    await until('it runs', async () => {
      const { status } = await product.runState(runId);
      return status === 'running' || undefined;
    });
    return runId;
  }

  test('one notification counts all failures with the same error, and starts with the name of the script', async () => {
    const id = await product.script('Convert', { 'main.py': 'int("n/a")\n' });
    for (const _run of [1, 2, 3]) await product.untilFinished((await product.run(id)).run_id);
    await open('/notifications');
    const items = page.getByRole('list', { name: 'Inbox' }).getByRole('listitem');
    await items.getByRole('link', { name: '3 failed runs' }).waitFor();
    await items.getByText(/^Convert: .*ValueError: invalid literal/s).waitFor();
    expect(await items.count()).toBe(1);
  });

  test('the log of a script that merges stderr has the exact order of both streams', async () => {
    const id = await product.script('Merged', { 'main.py': alternating });
    await open(`/scripts/${id}/settings`);
    await page.getByLabel('Merge stderr into stdout').check();
    await page.getByRole('button', { name: 'Save settings' }).click();
    await page.getByText('Settings saved').waitFor();
    const { run_id: runId } = await product.run(id);
    await product.untilFinished(runId);
    await page.setViewportSize({ width: 1280, height: 6000 });
    await open(`/runs/${runId}`);
    const lines = page
      .getByRole('region', { name: 'Log', exact: true })
      .locator('[data-stream="stdout"] .log-text');
    const printed = Array.from({ length: 100 }, (_, number) => [`out ${number}`, `err ${number}`]);
    await expect.poll(() => lines.allTextContents()).toEqual(printed.flat());
    await page.setViewportSize({ width: 1280, height: 800 });
  });

  test('a run that a runtime shutdown stopped names the shutdown as the reason', async () => {
    const runId = await running(await product.script('Cut short', { 'main.py': waiting }));
    await open(`/runs/${runId}`);
    process.kill(await product.pidOf('runtime'), 'SIGTERM');
    const reason = 'The runtime was shut down during the run.';
    await page.getByRole('main').getByText(reason).first().waitFor();
    expect(await page.getByText('The runtime was lost during the run').count()).toBe(0);
  });

  test('opening a deleted script records no refusal in the audit trail', async () => {
    const id = await product.script('Deleted', { 'main.py': '' });
    await product.call('DELETE', `/scripts/${id}`);
    await open(`/scripts/${id}`);
    await page.getByText('Deleted').first().waitFor();
    await browsing.untilQuiet();
    const { items } = await product.call<{ items: { type: string }[] }>('GET', '/audit?limit=50');
    expect(items.filter(({ type }) => type === 'RequestRefused')).toEqual([]);
  });

  test('the header of a script shows the active run', async () => {
    const id = await product.script('Active', { 'main.py': waiting });
    const runId = await running(id);
    await open(`/scripts/${id}/overview`);
    await page.getByRole('link', { name: 'Last run: running' }).getByText('Running').waitFor();
    await product.call('POST', `/runs/${runId}/stop`);
    await page.getByRole('link', { name: 'Last run: stopped' }).waitFor();
  });

  test('the run panel of the editor shows the duration on one line and the full error as a tooltip', async () => {
    const reason = `no rows in ${'a long table name '.repeat(12).trim()}`;
    const code = `raise ValueError(${JSON.stringify(reason)})\n`;
    await open(`/scripts/${await product.script('Reasons', { 'main.py': code })}`);
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    const panel = page.getByRole('region', { name: 'Run', exact: true });
    await panel.getByTitle(`ValueError: ${reason}`).waitFor();
    const duration = panel.getByText(/^\d+(\.\d+)? m?s$/);
    expect((await duration.boundingBox())?.height).toBeLessThan(24);
  });

  test('the field for log line numbers is empty after a jump', async () => {
    const id = await product.script('Rows', { 'main.py': 'for n in range(50): print("row", n)\n' });
    const { run_id: runId } = await product.run(id);
    await product.untilFinished(runId);
    await open(`/runs/${runId}`);
    const field = page.getByLabel('Go to line or range');
    await field.fill('5-6');
    await field.press('Enter');
    await page.waitForURL(/#L5-L6$/);
    expect(await field.inputValue()).toBe('');
  });

  test('a search finds runs by the beginning of their ID', async () => {
    const id = await product.script('Found', { 'main.py': '' });
    const { run_id: runId } = await product.run(id);
    await product.untilFinished(runId);
    await open('/runs');
    await page.getByRole('searchbox', { name: 'Script, error or run ID' }).fill(runId.slice(0, 18));
    await expect.poll(() => page.getByRole('link', { name: /^Run of / }).count()).toBe(1);
    await page.getByRole('link', { name: /^Run of Found/ }).waitFor();
  });

  test('the schedule page reports that another client deleted the schedule', async () => {
    const script_id = await product.script('Planned', { 'main.py': '' });
    const made = { script_id, cron: '30 2 * * *', timezone: 'UTC' };
    const { id } = await product.call<{ id: string }>('POST', '/schedules', made);
    await open(`/schedules/${id}`);
    await page.getByRole('heading', { level: 1, name: /02:30/ }).waitFor();
    await product.call('DELETE', `/schedules/${id}`);
    await page.getByRole('heading', { name: 'Page not found' }).waitFor();
    await page.getByRole('link', { name: 'Go to schedules' }).click();
    await page.getByRole('heading', { level: 1, name: 'Schedules' }).waitFor();
  });

  test('the script filter has an arrow like other lists, and time filters use no native date fields', async () => {
    await open('/runs?from=2026-01-01T00:00:00Z&to=2026-01-02T00:00:00Z');
    const script = page.getByPlaceholder('Any script');
    await script.locator('xpath=..').locator('svg').waitFor();
    expect(await page.locator('input[type=date], input[type=datetime-local]').count()).toBe(0);
  });

  test.each([1280, 390])(
    'a custom time range is fully visible on a screen with a width of %i px',
    async (width) => {
      await page.setViewportSize({ width, height: 800 });
      await open('/runs?from=2026-11-10T10:15:00Z&to=2026-12-21T20:45:00Z');
      // On a phone, the filters are collapsed.
      if (width < 640) await page.getByRole('button', { name: /^Filters/ }).click();
      const text = page.getByRole('button', { name: /^Time: .+ to / }).locator('span');
      await text.waitFor();
      const cut = await text.evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth);
      expect(cut).toBe(0);
      await page.setViewportSize({ width: 1280, height: 800 });
    },
  );

  test('lists have the same width on a very wide screen', async () => {
    await page.setViewportSize({ width: 2200, height: 1200 });
    const widths = new Map<string, number | undefined>();
    for (const path of ['/scripts', '/runs', '/errors', '/schedules', '/audit', '/people']) {
      await open(path);
      const heading = page.getByRole('heading', { level: 1 });
      await heading.waitFor();
      widths.set(path, (await heading.locator('xpath=../..').boundingBox())?.width);
    }
    await page.setViewportSize({ width: 1280, height: 800 });
    expect(new Set(widths.values()).size, JSON.stringify([...widths])).toBe(1);
  });

  test('a run that a webhook started names the webhook', async () => {
    const id = await product.script('Orders', { 'main.py': '' });
    const { url } = await product.call<{ url: string }>('POST', '/webhooks', {
      script_id: id,
      name: 'Shop',
    });
    await fetch(new URL(new URL(url).pathname, product.baseUrl), { method: 'POST' });
    await open(`/scripts/${id}/runs`);
    await page
      .getByRole('link', { name: /^Run of Orders/ })
      .first()
      .click();
    await page.getByText('the webhook “Shop”').first().waitFor();
  });

  test('the account menu is visible on a short screen', async () => {
    await page.setViewportSize({ width: 1280, height: 600 });
    await open('/scripts');
    const account = page.getByRole('button', { name: 'Account:' });
    await account.waitFor();
    const box = await account.boundingBox();
    expect((box?.y ?? 0) + (box?.height ?? 0)).toBeLessThanOrEqual(600);
    await page.setViewportSize({ width: 1280, height: 800 });
  });

  test('the overview of a script shows its runs in full on a phone', async () => {
    const id = await product.script('Small', { 'main.py': '' });
    await product.untilFinished((await product.run(id)).run_id);
    await page.setViewportSize({ width: 390, height: 844 });
    await open(`/scripts/${id}/overview`);
    const table = page.getByRole('table', { name: 'Runs' });
    await table.getByRole('link', { name: /^Run of Small/ }).waitFor();
    const hidden = await table
      .locator('xpath=..')
      .evaluate(({ scrollHeight, clientHeight }) => scrollHeight - clientHeight);
    expect(hidden).toBe(0);
    await page.setViewportSize({ width: 1280, height: 800 });
  });

  test('the history of a script fits the width of a phone', async () => {
    const id = await product.script('Kept', { 'main.py': '' });
    await page.setViewportSize({ width: 390, height: 844 });
    await open(`/scripts/${id}/history`);
    const table = page.getByRole('table', { name: 'History' });
    await table
      .getByRole('link', { name: /^Replay at/ })
      .first()
      .waitFor();
    const hidden = await table
      .locator('xpath=..')
      .evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth);
    expect(hidden).toBe(0);
    await page.setViewportSize({ width: 1280, height: 800 });
  });
});
