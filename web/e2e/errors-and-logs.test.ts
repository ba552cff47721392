/** The log viewer and the errors of failed runs, tested in a real browser against the real product. */
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
/** Prints more before each error than a pipe can hold. Otherwise, both errors would form one block. */
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
    ({ run_id: runId } = await product.run(await product.script('long', { 'main.py': long })));
    await product.untilFinished(runId);
  });

  const log = () => page.getByRole('region', { name: 'Log', exact: true });
  const line = (text: string) => log().getByText(text, { exact: true });
  const numberOf = async (text: string) => {
    const path = `/runs/${runId}/logs?q=${encodeURIComponent(text)}`;
    const { items } = await product.call<{ items: { seq: number }[] }>('GET', path);
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

describeWith(chromiumService, 'run errors', () => {
  let product: Product;
  let browsing: Browsing;
  let page: Page;
  let failingId: string;
  openDashboard(async (opened) => {
    ({ product, browsing, page } = opened);
    failingId = await product.script('Import orders', { 'main.py': 'float("n/a")\n' });
    for (const _ of [1, 2]) await fail();
    await browsing.signIn(`${product.baseUrl}/errors`);
  });

  async function fail(): Promise<void> {
    await product.untilFinished((await product.run(failingId)).run_id);
  }

  async function openRun(name: string, content: string): Promise<void> {
    const { run_id: runId } = await product.run(await product.script(name, { 'main.py': content }));
    await product.untilFinished(runId);
    await page.goto(`${product.baseUrl}/runs/${runId}`);
  }

  test('are grouped, and each group shows its number of runs', async () => {
    const row = page.getByRole('row', { name: /ValueError: could not convert/ });
    await row.getByText('Import orders · main.py:1').waitFor();
    await row.getByText('Open', { exact: true }).waitFor();
    await row.getByRole('cell', { name: '2', exact: true }).waitFor();
    expect(await browsing.barriers()).toEqual([]);
    await row.getByRole('link').click();
    await page.getByRole('region', { name: 'Last error' }).getByText('main.py:1').waitFor();
    expect(await browsing.barriers()).toEqual([]);
  });

  test('can be resolved and ignored, and reopen when they occur again', async () => {
    const status = page.getByRole('definition').first();
    await page.getByRole('button', { name: 'Resolve…' }).click();
    const dialog = page.getByRole('dialog', { name: 'Resolve this error?' });
    expect(await browsing.barriers()).toEqual([]);
    await dialog.getByRole('button', { name: 'Resolve' }).click();
    await status.getByText('Resolved').waitFor();
    await fail();
    await status.getByText('Open').waitFor();
    await expect.poll(() => page.getByRole('link', { name: /^Run of Import/ }).count()).toBe(3);
    await page.getByRole('button', { name: 'Ignore for 7 days' }).click();
    await status.getByText('Ignored until').waitFor();
    await page.getByRole('button', { name: 'Reopen' }).click();
    await status.getByText('Open').waitFor();
  });

  test('show what has changed since the last successful run', async () => {
    const id = await product.script('Convert', { 'main.py': 'print(int("7"))\n' });
    await product.untilFinished((await product.run(id)).run_id);
    await product.call('PUT', `/scripts/${id}/files/main.py`, { content: 'print(int("x"))\n' });
    await product.call('PATCH', `/scripts/${id}`, { environment: { REGION: 'north' } });
    const { run_id } = await product.run(id);
    await product.untilFinished(run_id);
    await page.goto(`${product.baseUrl}/runs/${run_id}`);
    await page.getByRole('link', { name: 'What changed' }).click();
    const diff = page.getByRole('region', { name: 'Changes to main.py' });
    await diff.getByText('+print(int("x"))').waitFor();
    await page.getByText('Variable REGION added').waitFor();
    expect(await page.content()).not.toContain('north');
    expect(await browsing.barriers()).toEqual([]);
  });

  test('show the code of the run’s version, even after a rerun of that version', async () => {
    const id = await product.script('Divide', { 'main.py': 'x = 0\nprint(1 / x)\n' });
    const { run_id: first } = await product.run(id);
    await product.untilFinished(first);
    const content = '# one\n# two\nx = 0\nprint(1 / x)\n';
    await product.call('PUT', `/scripts/${id}/files/main.py`, { content });
    const rerun = `/runs/${first}/rerun`;
    const again = await product.call<{ run_id: string }>('POST', rerun, { version: 'same' });
    await product.untilFinished(again.run_id);
    await page.goto(`${product.baseUrl}/runs/${again.run_id}`);
    await page.getByRole('button', { name: 'main.py:2 in <module>' }).click();
    const marked = (title: string) =>
      page.getByRole('region', { name: `${title} at main.py:2` }).locator('.text-danger');
    await expect.poll(() => marked('Version 2').textContent()).toBe('2print(1 / x)\n');
    await expect.poll(() => marked('Current version').textContent()).toBe('4print(1 / x)\n');
    await product.call('PUT', `/scripts/${id}/files/main.py`, { content: 'x = 1\nprint(x)\n' });
    await page.reload();
    await page.getByRole('button', { name: 'main.py:2 in <module>' }).click();
    const changed = page.getByRole('region', { name: 'Current version, without this line' });
    expect(await changed.textContent()).toContain('print(x)');
    expect(await changed.locator('.text-danger').count()).toBe(0);
    expect(await browsing.barriers()).toEqual([]);
  });

  test.each([
    [
      'its frames below a long message',
      'raise ValueError("\\n".join(f"line {n}" for n in range(400)))\n',
      ['line 5 …', 'main.py:1'],
    ],
    [
      'a recursion once',
      'def again(n):\n    return again(n - 1) if n else 1 / n\nagain(20)\n',
      ['repeated 20 more times'],
    ],
    [
      'the root cause of a long chain',
      `error = OSError("disk full")
for level in range(59):
    cause, error = error, ValueError(f"level {level}")
    error.__cause__ = cause
raise error
`,
      ['Root cause: OSError: disk full'],
    ],
    [
      'the number of omitted members of a group',
      'raise ExceptionGroup("many", [ValueError(str(n)) for n in range(31)])\n',
      ['… 21 exceptions omitted'],
    ],
  ])('show %s', async (name, content, texts) => {
    await openRun(name, content);
    const box = page.getByRole('region', { name: 'Error' });
    const frame = await box.boundingBox();
    for (const text of texts) {
      const found = box.getByText(text).first();
      const place = await found.boundingBox();
      expect(place?.y, text).toBeLessThan((frame?.y ?? 0) + (frame?.height ?? 0));
    }
    expect(await browsing.barriers()).toEqual([]);
  });

  test('show a long message completely on request', async () => {
    const content = 'raise ValueError("\\n".join(f"line {n}" for n in range(40)))\n';
    await openRun('Long', content);
    const box = page.getByRole('region', { name: 'Error' });
    await box.getByRole('button', { name: 'Show all' }).click();
    await box.getByText('line 39').waitFor();
  });

  test('are found by the search in the run list', async () => {
    await page.goto(`${product.baseUrl}/runs`);
    await page.getByRole('searchbox', { name: 'Script, error or run ID' }).fill('invalid literal');
    const found = (name: RegExp) => page.getByRole('link', { name }).count();
    await expect.poll(() => found(/^Run of Convert, failed/)).toBe(1);
    await expect.poll(() => found(/^Run of /)).toBe(1);
    expect(await browsing.barriers()).toEqual([]);
  });
});
