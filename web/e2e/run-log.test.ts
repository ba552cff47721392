/** The log viewer, tested in a real browser against the real product. */
import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { describeWith } from '../../scripts/testing/optional-service.ts';
import { chromiumService, type Browsing } from './testing/browsing.ts';
import { openDashboard } from './testing/dashboard.ts';
import type { Product } from '../../services/minimal/testing/product.ts';

const long = `import sys
for number in range(1, 3001):
    print(f"row {number}" + (" needle" if number % 1000 == 0 else ""), flush=number % 500 == 0)
    if number in (700, 701, 1900):
        sys.stdout.flush()
        print(f"problem {number}", file=sys.stderr, flush=True)
print("wide " + "x" * 2000)
print("\\x1b[32mgreen\\x1b[0m end")
`;
/** Before each error, the script prints more output than a pipe can hold. Otherwise, both errors would form one
 *  block. */
const failing = `import sys
for part in ("one", "two"):
    for number in range(2000):
        print("steady " * 20)
    sys.stdout.flush()
    print("plain text", file=sys.stderr, flush=True)
    print("ERROR:root:problem", part, file=sys.stderr, flush=True)
print("the end")
`;
/** Prints more lines when the run is stopped. */
const talking = `import signal, sys, time
def last_words(*_):
    print("one more")
    print("and another", flush=True)
    sys.exit(0)
signal.signal(signal.SIGTERM, last_words)
for number in range(200):
    print("filler", number, flush=True)
time.sleep(1000)
`;

describeWith(chromiumService, 'the log viewer', () => {
  let product: Product;
  let browsing: Browsing;
  let page: Page;
  let runId: string;
  openDashboard(async (opened) => {
    ({ product, browsing, page } = opened);
    await browsing.signIn(product.baseUrl);
    const { run_id } = await product.run(await product.script('long', { 'main.py': long }));
    await product.untilFinished(run_id);
    runId = run_id;
  });

  const log = () => page.getByRole('region', { name: 'Log', exact: true });
  const line = (text: string) => log().getByText(text, { exact: true });
  const numberOf = async (text: string) => {
    const { items } = await product.call<{ items: { seq: number }[] }>(
      'GET',
      `/runs/${runId}/logs?q=${encodeURIComponent(text)}`,
    );
    return items[0]?.seq ?? 0;
  };

  test('opens at the end of the log, and searches the whole log in both directions', async () => {
    await page.goto(`${product.baseUrl}/runs/${runId}`);
    await log().getByText('green').waitFor();
    await page.getByLabel('Search the log').fill('needle');
    const matches = page.getByRole('toolbar', { name: 'Matches' });
    await matches.getByText('1 of 3').waitFor();
    await line('row 1000 needle').waitFor();
    expect(await log().locator('mark').first().textContent()).toBe('needle');
    expect(await browsing.barriers()).toEqual([]);
    await page.getByLabel('Search the log').press('Enter');
    await line('row 2000 needle').waitFor();
    await page.getByLabel('Search the log').press('Shift+Enter');
    await page.getByLabel('Search the log').press('Shift+Enter');
    await matches.getByText('3 of 3').waitFor();
    await line('row 3000 needle').waitFor();
    await matches.getByRole('button', { name: 'Show matches only' }).click();
    await page.getByText('3 matching lines.').waitFor();
    await page.getByLabel('Search the log').fill('nowhere');
    await page.getByText('0 matching lines.').waitFor();
  });

  test('links to lines, and opens at the linked lines', async () => {
    const [first, last] = [await numberOf('row 1500'), await numberOf('row 1502')];
    await page.goto(`${product.baseUrl}/runs/${runId}#L${first}-L${last}`);
    await line('row 1500').waitFor();
    await page.getByText(`Lines ${first}–${last}`).waitFor();
    expect(await browsing.barriers()).toEqual([]);
    const numberAt = (seq: number) => log().locator(`[data-seq="${seq}"] [data-number]`);
    await numberAt(first + 1).click();
    await page.waitForURL(new RegExp(`#L${first + 1}$`));
    await numberAt(first + 4).click({ modifiers: ['Shift'] });
    await page.waitForURL(new RegExp(`#L${first + 1}-L${first + 4}$`));
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.getByRole('button', { name: 'Copy text' }).click();
    await page.getByText('4 lines copied').waitFor();
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(
      'row 1501\nrow 1502\nrow 1503\nrow 1504\n',
    );
    await page.getByRole('button', { name: 'Clear selection' }).click();
    await page.waitForURL(({ hash }) => hash === '');
    await page.getByLabel('Go to line or range').fill('5-6');
    await page.getByLabel('Go to line or range').press('Enter');
    await line('row 5').waitFor();
    await page.waitForURL(/#L5-L6$/);
  });

  test('jumps to the next error line, and continues at the start after the last one', async () => {
    const { run_id } = await product.run(await product.script('failing', { 'main.py': failing }));
    await product.untilFinished(run_id);
    await page.goto(`${product.baseUrl}/runs/${run_id}`);
    await line('the end').waitFor();
    for (const part of ['one', 'two', 'one']) {
      await page.getByRole('button', { name: 'Next error' }).click();
      await line(`ERROR:root:problem ${part}`).waitFor();
    }
  });

  test('offers timestamps, line wrapping, single streams, plain text and a download', async () => {
    await page.goto(`${product.baseUrl}/runs/${runId}`);
    await log().getByText('green').waitFor();
    expect(await log().locator('.ansi-green-fg').textContent()).toBe('green');
    expect(await log().locator('time').count()).toBe(0);
    const timeOfLast = () => log().locator('time').last().textContent();
    await page.getByLabel('Times').selectOption('Time of day');
    await expect.poll(timeOfLast).toMatch(/^\d\d:\d\d:\d\d\.\d{3}$/);
    await page.getByLabel('Times').selectOption('Elapsed time');
    await expect.poll(timeOfLast).toMatch(/^\+\d+\.\d{3} s$/);

    const widths = async () =>
      await log().evaluate(({ scrollWidth, clientWidth }) => [scrollWidth, clientWidth]);
    const [before = 0, room = 0] = await widths();
    expect(before).toBeGreaterThan(room);
    await page.getByRole('button', { name: 'Wrap long lines' }).click();
    await expect.poll(async () => (await widths())[0]).toBe(room);
    await log().getByText('green').waitFor();
    await page.reload();
    await log().getByText('green').waitFor();
    expect((await widths())[0]).toBe(room);
    expect(await browsing.barriers()).toEqual([]);
    await log().press('Home');
    await line('row 1').waitFor();
    await page.getByRole('button', { name: 'Jump to end' }).click();
    await log().getByText('green').waitFor();
    await page.getByRole('button', { name: 'Wrap long lines' }).click();
    await page.getByLabel('Times').selectOption('Hide times');

    await page.getByLabel('Lines', { exact: true }).selectOption('stderr');
    await page.getByText('3 matching lines.').waitFor();
    await page.getByLabel('Lines', { exact: true }).selectOption('All lines');
    const opening = page.waitForEvent('popup');
    await page.getByRole('button', { name: 'Open as plain text' }).click();
    const raw = await opening;
    await raw.getByText('row 2999').waitFor();
    await raw.close();
    const saving = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Download log' }).click();
    const text = await readFile(await (await saving).path(), 'utf8');
    expect(text).toContain('row 1\n');
    expect(text.split('\n').length).toBeGreaterThan(3000);
  });

  test('stops following the log when the user scrolls up, and counts the new lines', async () => {
    const scriptId = await product.script('talks', { 'main.py': talking });
    const { run_id: talkingId } = await product.run(scriptId);
    await page.goto(`${product.baseUrl}/runs/${talkingId}`);
    await line('filler 199').waitFor();
    await log().hover();
    await page.mouse.wheel(0, -800);
    await page.getByRole('button', { name: 'Jump to end' }).waitFor();
    await product.call('POST', `/runs/${talkingId}/stop`);
    await page.getByRole('button', { name: /^\d new lines$/ }).click();
    await line('and another').waitFor();
    expect(await browsing.barriers()).toEqual([]);
  });
});
