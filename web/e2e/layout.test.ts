/** The layout of every dashboard page in the light and dark themes, on a wide screen and on a phone. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { describeWith } from '../../scripts/testing/optional-service.ts';
import { chromiumService, type Browsing } from './testing/browsing.ts';
import { openDashboard } from './testing/dashboard.ts';
import type { Product } from '../../services/minimal/testing/product.ts';
import { screensOf } from './testing/screens.ts';
import { seed, type Seeded } from './testing/seed.ts';

/** The folder for screenshots. Without this variable, no screenshots are taken. */
const pictures = process.env['ORCH_TEST_PICTURES'];
const screens = {
  wide: { width: 1280, height: 800 },
  phone: { width: 390, height: 844 },
};
/** Every page; a name in braces stands for the ID of a seeded resource. */
const pages = [
  '/',
  '/scripts',
  '/runs',
  '/errors',
  '/approvals',
  '/schedules',
  '/chains',
  '/notifications',
  '/audit',
  '/replay',
  '/people',
  '/configuration',
  '/repositories',
  '/secret-stores',
  '/backups',
  '/models',
  '/updates',
  '/system',
  '/preferences',
  '/account',
  '/nowhere',
  '/scripts/{scriptId}',
  '/scripts/{scriptId}/overview',
  '/scripts/{scriptId}/runs',
  '/scripts/{scriptId}/schedules',
  '/scripts/{scriptId}/webhooks',
  '/scripts/{scriptId}/secrets',
  '/scripts/{scriptId}/history',
  '/scripts/{scriptId}/settings',
  '/scripts/trash',
  '/runs/{runId}',
  '/runs/{failedRunId}',
  '/runs/{runId}/compare',
  '/runs/{runId}/compare/{failedRunId}',
  '/errors/{errorGroupId}',
  '/approvals/{approvalId}',
  '/runs/{approvalId}',
  '/schedules/calendars',
  '/schedules/{scheduleId}',
  '/notifications/channels',
  '/notifications/rules',
  '/notifications/deliveries',
];

const crawl = `from orchestrator import Platform
for number in range(60):
    with Platform().span(f"page {number}"):
        pass
for length in (70, 200):
    with Platform().span("https://example.com/".ljust(length, "a")):
        pass
`;

describeWith(chromiumService, 'the dashboard layout', () => {
  let product: Product;
  let browsing: Browsing;
  let seeded: Seeded;
  openDashboard(async (opened) => {
    ({ product, browsing } = opened);
    seeded = await seed(product);
    await product.call('POST', '/secret-stores', {
      name: 'Company Vault',
      type: 'vault',
      group_ids: null,
      address: 'http://127.0.0.1:9',
      auth: 'token',
      credential: 'a-token-of-your-own',
    });
    await product.call('POST', '/repositories', {
      name: 'Jobs',
      url: 'http://127.0.0.1:9/jobs.git',
    });
    await browsing.signIn(product.baseUrl);
    if (pictures !== undefined) await mkdir(pictures, { recursive: true });
  });

  test('is tested for every page in the menu', async () => {
    const menu = browsing.page.getByRole('navigation', { name: 'Main' }).getByRole('link');
    const places = await menu.evaluateAll((links) =>
      links.map((link) => link.getAttribute('href') ?? ''),
    );
    // `/docs`, the interactive API description, is third-party software and is not tested.
    expect(pages).toEqual(expect.arrayContaining(places.filter((path) => path !== '/docs')));
  });

  test.for(pages)(
    'fits the page %s on a wide screen and a phone, without accessibility violations',
    async (pattern) => {
      const { page } = browsing;
      const path = pattern.replaceAll(/\{(\w+)\}/g, (_, name) => seeded[name as keyof Seeded]);
      await page.setViewportSize(screens.wide);
      // roles.test.ts loads the screens of viewers by their URL; links take a third of the time.
      const isLoadedByRoles = screensOf(seeded).some(
        (one) => one.path === path && one.of.includes('viewer'),
      );
      if (isLoadedByRoles) await browsing.follow(product.baseUrl + path);
      else await page.goto(product.baseUrl + path);
      await page.getByRole('heading').first().waitFor();
      for (const [screen, size] of Object.entries(screens)) {
        await page.setViewportSize(size);
        await browsing.untilQuiet();
        expect(await beyond(), `the document scrolls on a ${screen} screen`).toEqual([0, 0]);
        expect(await browsing.barriers(), `on a ${screen} screen`).toEqual([]);
        if (pictures !== undefined) await takePictures(screen, path, pictures);
      }
    },
  );

  test('keeps the menu at an unknown URL', async () => {
    const { page } = browsing;
    await page.setViewportSize(screens.phone);
    await page.goto(`${product.baseUrl}/nowhere/at/all`);
    await page.getByRole('heading', { name: 'Page not found' }).waitFor();
    await page.getByRole('button', { name: 'Open menu' }).click();
    await page.getByRole('link', { name: 'Schedules' }).click();
    await page.getByRole('heading', { name: 'Schedules' }).waitFor();
  });

  test('collapses the filters on a phone, and shows the number of active filters', async () => {
    const { page } = browsing;
    await page.setViewportSize(screens.phone);
    await page.goto(`${product.baseUrl}/runs?status=failed&since=7d`);
    const status = page.getByLabel('Status', { exact: true });
    const filters = page.getByRole('button', { name: 'Filters 2' });
    await filters.waitFor();
    expect(await status.isVisible()).toBe(false);
    await filters.click();
    await status.selectOption('Success');
    await page.getByRole('link', { name: /^Run of Daily report, success/ }).waitFor();
    expect(await browsing.barriers()).toEqual([]);
  });

  test('scrolls the tabs on a phone, and keeps the current tab visible', async () => {
    const { page } = browsing;
    await page.setViewportSize(screens.phone);
    const tabs = page.getByRole('navigation', { name: 'Script' });
    const scriptPath = `/scripts/${seeded.scriptId}`;
    await page.goto(product.baseUrl + scriptPath);
    await tabs.getByRole('link', { name: 'Code' }).waitFor();
    await expect.poll(() => tabs.getAttribute('data-beyond')).toBe('right');
    await page.goto(`${product.baseUrl + scriptPath}/settings`);
    await expect.poll(() => tabs.getAttribute('data-beyond')).toBe('left');
    const open = await tabs.getByRole('link', { name: 'Settings' }).boundingBox();
    expect((open?.x ?? 0) + (open?.width ?? 0)).toBeLessThanOrEqual(screens.phone.width);
  });

  test('keeps the actions of a script with a long name visible', async () => {
    const { page } = browsing;
    const name = 'long '.repeat(24).trim();
    const scriptId = await product.script(name, { 'main.py': 'print("done")' });
    const { run_id: runId } = await product.run(scriptId);
    for (const size of Object.values(screens)) {
      await page.setViewportSize(size);
      for (const path of ['/scripts', `/scripts/${scriptId}`, `/runs/${runId}`]) {
        await page.goto(product.baseUrl + path);
        const run = page.getByRole('button', { name: /^Run/ }).first();
        await run.waitFor();
        const box = await run.boundingBox();
        expect((box?.x ?? 0) + (box?.width ?? 0), path).toBeLessThanOrEqual(size.width);
      }
    }
  });

  test('fits a run with many spans and long names on the screen', async () => {
    const { page } = browsing;
    const scriptId = await product.script('Crawl', { 'main.py': crawl });
    const { run_id: runId } = await product.run(scriptId);
    await product.untilFinished(runId);
    for (const [screen, size] of Object.entries(screens)) {
      await page.setViewportSize(size);
      await page.goto(`${product.baseUrl}/runs/${runId}?view=why`);
      const spans = page.getByRole('list', { name: 'Spans' });
      await spans.getByRole('button', { name: /^page 59/ }).waitFor();
      expect(await beyond(), `the document scrolls on a ${screen} screen`).toEqual([0, 0]);
      const box = await spans.boundingBox();
      const right = (box?.x ?? 0) + (box?.width ?? 0);
      expect(right, `the spans are wider than a ${screen} screen`).toBeLessThanOrEqual(size.width);
      expect(await browsing.barriers(), `on a ${screen} screen`).toEqual([]);
    }
  });

  test('fits a run with many changes on the screen', async () => {
    const { page } = browsing;
    const scriptId = await product.script('Changed', { 'main.py': 'print("done")\n' });
    await product.untilFinished((await product.run(scriptId)).run_id);
    const content = `${'# A comment.\n'.repeat(100)}raise ValueError("wrong")\n`;
    await product.call('PUT', `/scripts/${scriptId}/files/main.py`, { content });
    await product.call('PATCH', `/scripts/${scriptId}`, { limits: { wall_clock_seconds: 90 } });
    const { run_id: runId } = await product.run(scriptId);
    await product.untilFinished(runId);
    for (const [screen, size] of Object.entries(screens)) {
      await page.setViewportSize(size);
      await page.goto(`${product.baseUrl}/runs/${runId}?view=changes`);
      const settings = page.getByRole('table', { name: 'Settings' });
      await settings.waitFor();
      expect(await settings.getByRole('rowheader').allTextContents()).toEqual([
        'Run limits: wall clock seconds',
      ]);
      expect(await beyond(), `the document scrolls on a ${screen} screen`).toEqual([0, 0]);
    }
  });

  /** How far an element can scroll horizontally and vertically, in pixels. */
  async function beyond(selector = 'html'): Promise<[number, number]> {
    return browsing.page
      .locator(selector)
      .evaluate((one) => [one.scrollWidth - one.clientWidth, one.scrollHeight - one.clientHeight]);
  }

  async function takePictures(screen: string, path: string, folder: string): Promise<void> {
    const id = /[0-9a-f]{8}-[0-9a-f-]+/g;
    const name = path.slice(1).replaceAll(id, 'one').replaceAll('/', '-') || 'dashboard';
    for (const colorScheme of ['dark', 'light'] as const) {
      await browsing.page.emulateMedia({ colorScheme });
      await browsing.page.screenshot({
        path: join(folder, `${name}-${screen}-${colorScheme}.png`),
      });
    }
  }
});
