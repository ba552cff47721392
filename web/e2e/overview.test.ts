/** The first page of the dashboard and the schedule preview, tested in a real browser. */
import type { Page, Request } from 'playwright-core';
import { expect, test } from 'vitest';
import { describeWith } from '../../scripts/testing/optional-service.ts';
import { chromiumService, type Browsing } from './testing/browsing.ts';
import { openDashboard } from './testing/dashboard.ts';
import { until, type Product } from '../../services/minimal/testing/product.ts';

describeWith(chromiumService, 'the first page of the dashboard', () => {
  let product: Product;
  let browsing: Browsing;
  let page: Page;
  let scriptId: string;
  openDashboard(async (opened) => {
    ({ product, browsing, page } = opened);
    scriptId = await product.script('night report', { 'main.py': 'raise SystemExit(3)\n' });
    await browsing.signIn(product.baseUrl);
  });

  const region = (name: string) => page.getByRole('region', { name });

  test('updates failing scripts, next runs, and the due times in the next 24 hours', async () => {
    await region('Script health').getByText('All scripts are healthy').waitFor();
    const { run_id: runId } = await product.run(scriptId);
    await product.untilFinished(runId);
    await region('Script health').getByRole('link', { name: 'night report' }).waitFor();
    await region('Up next').getByText('Nothing scheduled').waitFor();
    await product.call('POST', '/schedules', { script_id: scriptId, cron: '0 3 * * *' });
    await region('Up next').getByRole('link', { name: 'night report' }).waitFor();
    await page.getByRole('img', { name: 'Due in the next 24 hours: 1 total' }).waitFor();
    expect(await browsing.barriers()).toEqual([]);
    await region('Script health').getByRole('link', { name: '1 failing' }).click();
    await page.getByRole('heading', { level: 1, name: 'Scripts' }).waitFor();
    await page.getByRole('link', { name: 'night report' }).waitFor();
    expect(page.url()).toContain('last_status=failed');
  });

  test('sends only three kinds of API requests: for the session, the account and the overview', async () => {
    const called: string[] = [];
    const note = (request: Request) =>
      void called.push(`${request.method()} ${new URL(request.url()).pathname}`);
    page.on('request', note);
    await page.goto(product.baseUrl);
    await region('Script health').getByRole('link', { name: 'night report' }).waitFor();
    await browsing.untilQuiet();
    page.off('request', note);
    expect([...new Set(called.filter((one) => one.includes('/api/')))]).toEqual([
      'POST /api/v1/auth/refresh',
      'GET /api/v1/auth/me',
      'GET /api/v1/dashboard/overview',
    ]);
  });

  test('shows each run as a point with a link, and the checklist until the user hides it', async () => {
    await page.goto(product.baseUrl);
    const points = page.getByRole('img', { name: /^Run duration: \d+ runs?, \d+ failed$/ });
    await points.waitFor();
    const steps = page.getByRole('region', { name: 'Getting started' });
    await steps.getByRole('link', { name: 'Get notified when a run fails' }).waitFor();
    expect(await steps.getByRole('link', { name: 'Create a script' }).count()).toBe(0);
    await steps.getByRole('button', { name: 'Hide the list' }).click();
    await page.reload();
    await points.waitFor();
    expect(await steps.count()).toBe(0);
  });

  test('leads to the health, triggers and owner of a script, and to a Run button on every tab', async () => {
    await page.goto(`${product.baseUrl}/scripts`);
    await page.getByRole('link', { name: 'night report' }).click();
    await page.waitForURL('**/overview');
    await region('Health')
      .getByRole('img', { name: /^Run duration/ })
      .waitFor();
    await region('Triggers').getByRole('link', { name: 'Every day at 03:00' }).waitFor();
    await region('About').getByText('admin@example.com').first().waitFor();
    expect(await browsing.barriers()).toEqual([]);
    for (const tab of ['Overview', 'Runs', 'Schedules', 'Webhooks', 'Secrets', 'Settings']) {
      await page
        .getByRole('navigation', { name: 'Script' })
        .getByRole('link', { name: tab })
        .click();
      await page.getByRole('button', { name: 'Run night report' }).waitFor();
    }
  });

  test('applies one time range to cards and charts, with consistent statistics and axes', async () => {
    const { run_id: runId } = await product.run(scriptId);
    await product.untilFinished(runId);
    const responses: { from: string; to: string; totals: { failed: number } }[] = [];
    page.on('response', (response) => {
      if (!response.url().includes('/dashboard/overview')) return;
      // Ignores responses whose body is unavailable because the page has navigated away.
      response.json().then(
        (body) => responses.push(body as (typeof responses)[number]),
        () => undefined,
      );
    });
    await page.goto(product.baseUrl);
    const errors = page.getByRole('main').getByRole('link', { name: /^Errors/ });
    await errors.getByText('100% of runs').waitFor();
    await page.getByRole('combobox', { name: 'Time range' }).selectOption('Last hour');
    await page.waitForURL('**/?span=1h');
    await expect.poll(() => errors.getAttribute('href')).toBe('/runs?status=failed&since=1h');
    const minutes = () => {
      const { from, to } = responses.at(-1) ?? { from: '', to: '' };
      return (Date.parse(to) - Date.parse(from)) / 6e4;
    };
    await expect.poll(minutes).toBeLessThanOrEqual(61);
    const { to = '', totals } = responses.at(-1) ?? {};
    await page.getByRole('img', { name: `Errors: ${totals?.failed} total` }).waitFor();
    const p95 = await page
      .getByRole('link', { name: /^p95 duration/ })
      .locator('p')
      .nth(1)
      .innerText();
    await page.getByRole('img', { name: `Duration: p95 ${p95}` }).waitFor();
    const axes = async () =>
      await page
        .getByRole('slider')
        .evaluateAll((all) =>
          all.map((one) =>
            ['min', 'max'].map((end) => Number(one.getAttribute(`aria-value${end}`))),
          ),
        );
    // The axis of a chart that is not drawn yet is 0 to 0.
    await expect.poll(async () => (await axes()).every(([first]) => (first ?? 0) > 0)).toBe(true);
    // The expected distance from the end is half a bucket plus the time since the response.
    const end = async () => ((await axes())[0]?.[1] ?? 0) - Date.parse(to);
    await expect.poll(end).toBeLessThanOrEqual(60_000);
    const [axis = [], ...others] = await axes();
    expect(others).toEqual(others.map(() => axis));

    await page.goto(`${product.baseUrl}/?from=2020-01-01T00:00:00Z&to=2020-01-02T00:00:00Z`);
    await page.getByRole('img', { name: 'Runs: none' }).waitFor();
    expect(await errors.locator('p').nth(1).innerText()).toBe('0');
  });

  test('applies a time range selected on one chart to all charts and the URL', async () => {
    await page.goto(product.baseUrl);
    const chart = page.getByRole('img', { name: /^Runs: / });
    await chart.locator('canvas').waitFor();
    await chart.scrollIntoViewIfNeeded();
    const box = await chart.boundingBox();
    if (box === null) throw new Error('the chart is not shown');
    const middle = box.y + box.height / 2;
    await page.mouse.move(box.x + box.width * 0.4, middle);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width * 0.6, middle, { steps: 4 });
    await page.mouse.up();
    const runs = page.getByRole('link', { name: 'View these runs' });
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

  test('selects a time range by touch', async () => {
    await page.goto(product.baseUrl);
    const chart = page.getByRole('img', { name: /^Runs: / });
    await chart.scrollIntoViewIfNeeded();
    const box = await chart.boundingBox();
    if (box === null) throw new Error('the chart is not shown');
    const y = box.y + box.height / 2;
    const fingers = await page.context().newCDPSession(page);
    const touch = (type: 'touchStart' | 'touchMove', part: number) =>
      fingers.send('Input.dispatchTouchEvent', {
        type,
        touchPoints: [{ x: box.x + box.width * part, y }],
      });
    await touch('touchStart', 0.5);
    for (const part of [0.55, 0.6, 0.7]) await touch('touchMove', part);
    await fingers.send('Input.dispatchTouchEvent', { type: 'touchEnd', touchPoints: [] });
    await page.getByRole('link', { name: 'View these runs' }).waitFor();
  });

  test('selects, moves, extends, cancels and applies a time range by keyboard', async () => {
    await page.goto(product.baseUrl);
    const stretch = page.getByRole('slider', { name: 'Time range of Runs' });
    const words = () => stretch.getAttribute('aria-valuetext');
    await page.locator('canvas').first().waitFor();
    await stretch.focus();
    expect(await words()).toBe('none');
    await page.keyboard.press('ArrowLeft');
    const latest = await words();
    await page.keyboard.press('ArrowLeft');
    expect(await words()).not.toBe(latest);
    expect(await browsing.barriers()).toEqual([]);
    await page.keyboard.press('Escape');
    expect(await words()).toBe('none');
    for (const key of ['ArrowLeft', 'ArrowLeft', 'ArrowLeft', 'Shift+ArrowRight']) {
      await page.keyboard.press(key);
    }
    await page.keyboard.press('Enter');
    await page.getByRole('link', { name: 'View these runs' }).waitFor();
    const asked = new URL(page.url()).searchParams;
    const minutes = (Date.parse(asked.get('to') ?? '') - Date.parse(asked.get('from') ?? '')) / 6e4;
    expect(minutes).toBeGreaterThanOrEqual(119);
    // The axis begins at a bucket boundary and ends in the middle of the last bucket.
    expect(minutes).toBeLessThanOrEqual(123);
  });

  test('leads to a preview of due times that may overlap the current run or other schedules', async () => {
    const sleeping = { 'main.py': 'import time\ntime.sleep(600)\n' };
    const busyId = await product.script('busy', sleeping);
    await product.call('POST', '/schedules', { script_id: busyId, cron: '0 3 * * *' });
    const { run_id: runId } = await product.run(busyId);
    await until('it runs', async () => {
      const { status } = await product.runState(runId);
      return status === 'running' || undefined;
    });
    await page.goto(`${product.baseUrl}/scripts/${busyId}/schedules`);
    await page.getByRole('button', { name: 'New schedule' }).first().click();
    const dialog = page.getByRole('dialog', { name: 'New schedule' });
    await dialog.getByLabel('Time zone').fill('UTC');
    await dialog.getByLabel('Cron expression').fill('0 3 * * *');
    await dialog.getByText('Coincides with another schedule of this script').first().waitFor();
    expect(await dialog.getByText('Previous run may still be active').count()).toBe(1);
    expect(await browsing.barriers()).toEqual([]);
    await product.call('POST', `/runs/${runId}/stop`);
  });

  test.each([
    [1440, 900],
    [390, 844],
  ])(
    'leads to a schedule dialog that fits %i × %i pixels without horizontal scrolling',
    async (width, height) => {
      await page.setViewportSize({ width, height });
      await page.goto(`${product.baseUrl}/scripts/${scriptId}/schedules`);
      await page.getByRole('button', { name: 'New schedule' }).first().click();
      const dialog = page.getByRole('dialog', { name: 'New schedule' });
      const hidden = () =>
        dialog.evaluate((root) =>
          [root, ...root.querySelectorAll('.overflow-x-auto')]
            .filter((one) => one.scrollWidth > one.clientWidth)
            .map((one) => one.outerHTML.slice(0, 120)),
        );
      await dialog.getByRole('table').waitFor();
      expect(await hidden()).toEqual([]);
      await dialog.getByLabel('Time zone').fill('Europe/Berlin');
      await dialog.getByLabel('Cron expression').fill('30 2 * * *');
      await dialog.getByRole('textbox', { name: 'Preview from' }).fill('2027-03-26T12:00');
      await dialog.getByText('DST: clocks go forward by 60 minutes').waitFor();
      expect(await hidden()).toEqual([]);
      expect(await browsing.barriers()).toEqual([]);
      await page.keyboard.press('Escape');
    },
  );
});
