/** Tests the accessibility check that the other page tests use. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeWith } from '../../scripts/testing/optional-service.ts';
import { Browsing, chromiumService } from './testing/browsing.ts';

describeWith(chromiumService, 'accessibility violations', () => {
  let browsing: Browsing;
  beforeAll(async () => {
    browsing = await Browsing.start();
  });
  afterAll(() => browsing.close());

  async function found(main: string): Promise<readonly string[]> {
    const head = '<title>A page</title><style>body { background: #fff; color: #000 }</style>';
    const body = `<body><main><h1>Title</h1>${main}</main></body>`;
    await browsing.page.setContent(`<html lang="en"><head>${head}</head>${body}</html>`);
    return (await browsing.barriersInLight()).map((one) => one.replace(/:.*/s, ''));
  }

  test('are detected for each text with low contrast', async () => {
    const low = '<p style="color: #bbb">low</p>';
    expect(await found('<p>high</p>')).toEqual([]);
    expect(await found(`<p>high</p>${low}`)).toEqual(['color-contrast']);
    expect(await found(`${low}<div>${low}</div>`)).toEqual(['color-contrast', 'color-contrast']);
  });

  test('are detected for a checked text color on another background or in a smaller size', async () => {
    const gray = (style: string) => `<p style="color: #888; ${style}">gray</p>`;
    expect(await found(gray('font-size: 40px'))).toEqual([]);
    expect(await found(gray('font-size: 12px'))).toEqual(['color-contrast']);
    expect(await found(`<div style="background: #aaa">${gray('font-size: 40px')}</div>`)).toEqual([
      'color-contrast',
    ]);
  });

  test('are detected for low contrast in a button that was previously disabled', async () => {
    const button = (state: string) => `<button style="color: #ccc" ${state}>Save</button>`;
    expect(await found(button('disabled'))).toEqual([]);
    expect(await found(button(''))).toEqual(['color-contrast']);
  });

  test('are detected for structural problems', async () => {
    expect(await found('<button></button>')).toEqual(['button-name']);
    const close = '<p style="letter-spacing: 0 !important">close</p>';
    expect(await found(close)).toEqual(['avoid-inline-spacing']);
  });
});
