/** How much each page loads, in a real browser with the real product. */
import type { Request } from 'playwright-core';
import { expect, test } from 'vitest';
import { describeWith } from '../../scripts/testing/optional-service.ts';
import type { Product } from '../../services/minimal/testing/product.ts';
import { chromiumService, type Browsing } from './testing/browsing.ts';
import { openDashboard } from './testing/dashboard.ts';

const maxSignInBytes = 112 * 1024;
const maxCodeFiles = 32;

describeWith(chromiumService, 'a page of the dashboard', () => {
  let product: Product;
  let browsing: Browsing;
  let scriptId: string;
  openDashboard(async (opened) => {
    ({ product, browsing } = opened);
    scriptId = await product.script('Daily report', { 'main.py': 'print(1)\n' });
    await browsing.signIn(product.baseUrl);
  });

  async function loaded(visitor: Browsing, path: string): Promise<readonly Request[]> {
    const requests: Request[] = [];
    visitor.page.on('requestfinished', (request) => requests.push(request));
    await visitor.page.goto(`${product.baseUrl}${path}`);
    await visitor.untilQuiet();
    visitor.page.removeAllListeners('requestfinished');
    return requests;
  }

  const isCode = (request: Request) => new URL(request.url()).pathname.endsWith('.js');

  test('asks a signed-out user to sign in with at most 112 KiB of code', async () => {
    const visitor = await browsing.another();
    const code = (await loaded(visitor, '/runs')).filter(isCode);
    await visitor.page.getByLabel('Password').waitFor();
    expect(new URL(visitor.page.url()).search).toBe('?next=%2Fruns');
    const sizes = await Promise.all(code.map((request) => request.sizes()));
    const bytes = sizes.reduce((sum, { responseBodySize }) => sum + responseBodySize, 0);
    expect(bytes).toBeGreaterThan(20_000);
    expect(bytes).toBeLessThanOrEqual(maxSignInBytes);
    await visitor.page.close();
  });

  test.each(['/', '/scripts', '/runs', '/schedules', '/audit', '/system', 'script'])(
    'loads %s with at most 32 files of code',
    async (path) => {
      const visitor = await browsing.another();
      await visitor.signIn(`${product.baseUrl}/login`);
      const target = path === 'script' ? `/scripts/${scriptId}` : path;
      const code = (await loaded(visitor, target)).filter(isCode);
      expect(code.length).toBeGreaterThan(3);
      expect(code.length).toBeLessThanOrEqual(maxCodeFiles);
      await visitor.page.close();
    },
  );
});
