/** Errors of failed runs, tested in a real browser against the real product. */
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { describeWith } from '../../scripts/testing/optional-service.ts';
import { chromiumService, type Browsing } from './testing/browsing.ts';
import { openDashboard } from './testing/dashboard.ts';
import type { Product } from '../../services/minimal/testing/product.ts';

describeWith(chromiumService, 'run errors', () => {
  let product: Product;
  let browsing: Browsing;
  let page: Page;
  let failing: string;
  openDashboard(async (opened) => {
    ({ product, browsing, page } = opened);
    failing = await product.script('Import orders', { 'main.py': 'float("n/a")\n' });
    for (const _ of [1, 2]) await fail();
    await browsing.signIn(`${product.baseUrl}/errors`);
  });

  async function fail(): Promise<void> {
    await product.untilFinished((await product.run(failing)).run_id);
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
    const again = await product.call<{ run_id: string }>('POST', `/runs/${first}/rerun`, {
      version: 'same',
    });
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
    const { run_id: runId } = await product.run(await product.script(name, { 'main.py': content }));
    await product.untilFinished(runId);
    await page.goto(`${product.baseUrl}/runs/${runId}`);
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
    const { run_id: runId } = await product.run(
      await product.script('Long', { 'main.py': content }),
    );
    await product.untilFinished(runId);
    await page.goto(`${product.baseUrl}/runs/${runId}`);
    const box = page.getByRole('region', { name: 'Error' });
    await box.getByRole('button', { name: 'Show all' }).click();
    await box.getByText('line 39').waitFor();
  });

  test('are found by the search in the run list', async () => {
    await page.goto(`${product.baseUrl}/runs`);
    await page.getByRole('searchbox', { name: 'Script, error or run ID' }).fill('invalid literal');
    await expect
      .poll(() => page.getByRole('link', { name: /^Run of Convert, failed/ }).count())
      .toBe(1);
    await expect.poll(() => page.getByRole('link', { name: /^Run of / }).count()).toBe(1);
    expect(await browsing.barriers()).toEqual([]);
  });
});
