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

/** Starts the product and the browser before a test suite. Stops them afterwards, even if the start failed or timed
 *  out. A test fails if a page has logged errors.
 *  @param prepare creates the test data and signs in
 *  @param options the product's options */
export function openDashboard(
  prepare: (dashboard: Dashboard) => Promise<void>,
  options: () => ProductOptions = () => ({}),
): void {
  let starting: { product: Promise<Product>; browsing: Promise<Browsing> } | undefined;
  let complaints: readonly string[] = [];
  beforeAll(async () => {
    starting = { product: Product.start(options()), browsing: Browsing.start() };
    const [product, browsing] = await Promise.all([starting.product, starting.browsing]);
    ({ complaints } = browsing);
    await prepare({ product, browsing, page: browsing.page });
  });
  afterEach(() => expect(complaints).toEqual([]));
  afterAll(async () => {
    const told = (): void => undefined;
    await starting?.browsing.then((browsing) => browsing.close(), told);
    await starting?.product.then(async (product) => {
      await product.stop();
      await product.remove();
    }, told);
  });
}
