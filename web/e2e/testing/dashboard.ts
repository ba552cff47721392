/** Starts and stops the product and the browser for the dashboard tests. */
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect } from 'vitest';
import { Browsing } from './browsing.ts';
import { Product, type ProductOptions } from '../../../services/minimal/testing/product.ts';

export interface Dashboard {
  readonly product: Product;
  readonly browsing: Browsing;
  /** The current page of `browsing`. */
  readonly page: Page;
}

/** The product of a test file. All suites of the file use it, because starting a product takes longer than most tests. */
let starting: Promise<Product> | undefined;
afterAll(async () => {
  const product = await starting?.catch(() => undefined);
  await product?.stop();
  await product?.remove();
});

/** Starts a browser before a test suite, and the product before the first suite of a file. Stops both afterwards, even
 *  if the start failed or timed out. A test fails if a page has logged errors.
 *  @param prepare creates the test data and signs in
 *  @param options the product's options. Only the first suite of a file may have options. */
export function openDashboard(
  prepare: (dashboard: Dashboard) => Promise<void>,
  options?: () => ProductOptions,
): void {
  let opening: Promise<Browsing> | undefined;
  let complaints: readonly string[] = [];
  beforeAll(async () => {
    if (starting !== undefined && options !== undefined)
      throw new Error('an earlier suite of this file has started the product');
    starting ??= Product.start(options?.());
    opening = Browsing.start();
    const [product, browsing] = await Promise.all([starting, opening]);
    ({ complaints } = browsing);
    await prepare({ product, browsing, page: browsing.page });
  });
  afterEach(() => expect(complaints).toEqual([]));
  afterAll(async () => {
    await (await opening?.catch(() => undefined))?.close();
  });
}
