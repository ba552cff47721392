/** Every page of the dashboard, in the light and the dark look, on a wide screen and on a phone. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeWith } from '../../scripts/testing/optional-service.ts';
import { Browsing, chromiumService } from './testing/browsing.ts';
import { Product } from './testing/product.ts';
import { seed } from './testing/seeded.ts';

/** Where the pictures go, for somebody who wants to look at them; none are kept otherwise. */
const pictures = process.env['ORCH_TEST_PICTURES'];
const screens = {
  wide: { width: 1280, height: 800 },
  phone: { width: 390, height: 844 },
};

describeWith(chromiumService, 'the looks of the dashboard', () => {
  let product: Product;
  let browsing: Browsing;
  let paths: readonly string[];
  beforeAll(async () => {
    [product, browsing] = await Promise.all([Product.start(), Browsing.start()]);
    const { scriptId, scheduleId, runId, failedRunId } = await seed(product);
    await browsing.signIn(product.baseUrl);
    const menu = browsing.page.getByRole('navigation', { name: 'Main' }).getByRole('link');
    const places = await menu.evaluateAll((links) =>
      links.map((link) => link.getAttribute('href') ?? ''),
    );
    const ofScript = ['', '/runs', '/schedules', '/webhooks', '/secrets', '/settings'];
    paths = [
      // The interactive description of the API is a program of others.
      ...places.filter((path) => path !== '/docs'),
      '/account',
      '/preferences',
      ...ofScript.map((part) => `/scripts/${scriptId}${part}`),
      `/runs/${runId}`,
      `/runs/${failedRunId}`,
      `/schedules/${scheduleId}`,
      ...['channels', 'rules', 'deliveries'].map((part) => `/notifications/${part}`),
      '/nowhere',
    ];
    if (pictures !== undefined) await mkdir(pictures, { recursive: true });
  }, 180_000);
  afterAll(async () => {
    await browsing.close();
    await product.stop();
    await product.remove();
  });

  test.each(Object.keys(screens) as (keyof typeof screens)[])(
    'on a %s screen, everybody can use every page, and nothing stands beyond its edge',
    { timeout: 300_000 },
    async (screen) => {
      const { page } = browsing;
      await page.setViewportSize(screens[screen]);
      for (const path of paths) {
        await page.goto(product.baseUrl + path, { waitUntil: 'networkidle' });
        await page.getByRole('heading').first().waitFor();
        const tooWide = await page
          .locator('html')
          .evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth);
        expect(tooWide, `${path} scrolls sideways`).toBe(0);
        expect(await browsing.barriers(), path).toEqual([]);
        expect(browsing.complaints, path).toEqual([]);
        if (pictures !== undefined) await takePictures(screen, path, pictures);
      }
      expect(paths.length).toBeGreaterThan(25);
    },
  );

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
