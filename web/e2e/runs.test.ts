/** The run page and the comparison of two runs, tested in a real browser against the real product. */
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { describeWith } from '../../scripts/testing/optional-service.ts';
import { chromiumService, type Browsing } from './testing/browsing.ts';
import { openDashboard } from './testing/dashboard.ts';
import { productPassword, until, type Product } from '../../services/minimal/testing/product.ts';

const first = `import os
print("rows", os.environ["ORCH_PARAMS"])
print("done")
from orchestrator import Platform
Platform().storage.upload("summary.txt", "city\\n" + os.environ["ORCH_PARAMS"])
`;
const second = `${first}platform = Platform()
platform.storage.upload("report/rows.csv", b"a,b")
platform.storage.upload("hostile.html", """<style>h1 { color: rgb(1, 2, 3) }</style><h1>Report</h1>
<script>document.title = "executed"; parent.postMessage("ready", "*")</script>
<img src="x" onerror="document.body.append('executed')"><img src="/api/v1/me">
<form action="/api/v1/scripts"><button>Send</button></form><a href="/account">Link</a>
<meta http-equiv="refresh" content="0;url=/account"><base href="https://example.com/">""")
platform.storage.upload("notes.md", "# Notes\\n\\n| a | b |\\n| - | - |\\n| 1 | 2 |\\n")
platform.storage.upload("plot.svg", '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>')
platform.storage.upload("data.json", '{"city": "Bern"}')
platform.storage.upload("model.bin", b"\\x00\\x01")
platform.output({"rows": 3})
`;

const spanned = `import signal, sys, time
from orchestrator import Platform
signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
platform = Platform()
with platform.span("fetch pages", url="https://example.com/items"):
    platform.progress(0.4, "page 4 of 10")
    time.sleep(1000)
`;

describeWith(chromiumService, 'the run page', () => {
  let product: Product;
  let browsing: Browsing;
  let page: Page;
  let before: string;
  let after: string;
  openDashboard(async (opened) => {
    ({ product, browsing, page } = opened);
    const script = await product.script('report', { 'main.py': first });
    const chained = await product.script('mailer', { 'main.py': 'print("sent")\n' });
    const run = async (params: object) => {
      const { run_id: id } = await product.run(script, { params });
      await product.untilFinished(id);
      return id;
    };
    before = await run({ days: 1 });
    await product.call('PUT', `/scripts/${script}/files/main.py`, {
      content: second,
      encoding: 'utf-8',
    });
    const chain = { source_script_id: script, target_script_id: chained, on: 'success' };
    await product.call('POST', '/chains', chain);
    after = await run({ days: 7 });
    await until('the chain has started the other script', async () => {
      const { effects } = await product.call<{ effects: unknown[] }>(
        'GET',
        `/runs/${after}/causes`,
      );
      return effects.length > 0 ? true : undefined;
    });
    const { items } = await product.call<{ items: { id: string }[] }>('GET', '/groups');
    await product.call('POST', '/users', {
      email: 'viewer@example.com',
      name: 'Vera',
      role: 'viewer',
      password: productPassword,
      group_ids: items.map(({ id }) => id),
    });
    await browsing.signIn(`${product.baseUrl}/runs/${after}`);
  });

  test('explains each decision, and links to upstream and downstream runs', async () => {
    await page.getByText('done', { exact: true }).waitFor();
    await page.getByRole('link', { name: 'Timeline' }).click();
    await page
      .getByRole('list', { name: 'Decisions' })
      .getByText('The script exited with exit code')
      .waitFor();
    const causes = page.getByRole('list', { name: 'Upstream and downstream' });
    await causes.getByText('This run').waitFor();
    await causes.getByRole('link', { name: 'mailer' }).waitFor();
    expect(await browsing.barriers()).toEqual([]);
    await causes.getByRole('link', { name: 'run queued' }).first().click();
    await page.getByRole('heading', { name: 'mailer' }).waitFor();
    await page.getByRole('link', { name: 'Timeline' }).click();
    await causes.getByRole('link', { name: 'Run of report' }).click();
    await page.getByRole('heading', { name: 'report' }).waitFor();
  });

  test('updates the progress and spans of an active run live, and opens spans by keyboard', async () => {
    const id = await product.script('spans', { 'main.py': spanned });
    const { run_id: runId } = await product.run(id);
    await page.goto(`${product.baseUrl}/runs/${runId}?view=why`);
    const spans = page.getByRole('list', { name: 'Spans' });
    const fetch = spans.getByRole('button', { name: /^fetch pages\s+level 2, running/ });
    await fetch.waitFor();
    await page.getByRole('progressbar', { name: 'Progress' }).waitFor();
    await page.getByText('page 4 of 10').waitFor();
    expect(await browsing.barriers()).toEqual([]);
    await product.call('POST', `/runs/${runId}/stop`);
    const ended = spans.getByRole('button', { name: /^fetch pages\s+level 2, failed/ });
    await ended.waitFor();
    await ended.focus();
    await page.keyboard.press('Enter');
    await spans.getByText('https://example.com/items').waitFor();
    await spans.getByRole('button', { name: /^report\s+succeeded/ }).waitFor();
    expect(await browsing.barriers()).toEqual([]);
  });

  test('shows the parameters, the result and the artifacts', async () => {
    await page.goto(`${product.baseUrl}/runs/${after}`);
    await page.getByRole('link', { name: 'Inputs and results' }).click();
    await page.getByRole('region', { name: 'parameters' }).getByText('"days": 7').waitFor();
    await page.getByRole('region', { name: 'output' }).getByText('"rows": 3').waitFor();
    const download = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Download report/rows.csv' }).click();
    expect((await download).suggestedFilename()).toBe('rows.csv');
    expect(await browsing.barriers()).toEqual([]);
  });

  test('previews artifacts without executing their scripts', async () => {
    await page.goto(`${product.baseUrl}/runs/${after}?view=data`);
    const loaded: string[] = [];
    page.on('response', (answer) => loaded.push(answer.url()));
    const open = async (path: string) => {
      await page.getByRole('button', { name: path, exact: true }).click();
      return page.getByRole('dialog', { name: path });
    };
    const table = await open('report/rows.csv');
    await table.getByRole('columnheader', { name: 'b' }).waitFor();
    expect(await browsing.barriers()).toEqual([]);
    await page.keyboard.press('Escape');

    const html = (await open('hostile.html')).locator('iframe');
    const report = html.contentFrame().getByRole('heading', { name: 'Report' });
    await report.waitFor();
    expect(
      await report.evaluate((one) => one.ownerDocument.defaultView?.getComputedStyle(one).color),
    ).toBe('rgb(1, 2, 3)');
    await html.contentFrame().getByRole('button', { name: 'Send' }).click();
    await html.contentFrame().getByText('Link').click();
    const frame = html.contentFrame().locator('html');
    expect(await frame.evaluate(({ ownerDocument }) => ownerDocument.defaultView?.origin)).toBe(
      'null',
    );
    expect(await frame.innerText()).not.toContain('executed');
    expect(new URL(page.url()).pathname).toBe(`/runs/${after}`);
    expect(loaded.filter((url) => /example\.com|v1\/me$/.test(url))).toEqual([]);
    // The parser in the frame reports these elements before they are removed.
    for (const ignored of ['Setting the document', 'Blocked form', 'Executing inline'])
      browsing.forgive(ignored);
    await page.keyboard.press('Escape');

    const notes = (await open('notes.md')).locator('iframe').contentFrame();
    const cell = notes.getByRole('cell', { name: '2' });
    await cell.waitFor();
    const colors = () =>
      cell.evaluate(({ ownerDocument: { defaultView: view, documentElement: root } }) => {
        const look = view?.getComputedStyle(root);
        return [look?.color, look?.backgroundColor];
      });
    const inLight = await colors();
    await page.emulateMedia({ colorScheme: 'dark' });
    // In the dark theme, the text takes the light theme's background color, and the background changes.
    await expect.poll(async () => (await colors())[0]).toBe(inLight[1]);
    expect((await colors())[1]).not.toBe(inLight[1]);
    await page.emulateMedia({ colorScheme: 'light' });
    await page.keyboard.press('Escape');
    const image = (await open('plot.svg')).getByRole('img', { name: 'Content of plot.svg' });
    expect(
      await image.evaluate((one) => (one as unknown as { naturalWidth: number }).naturalWidth),
    ).toBe(9);
    await page.keyboard.press('Escape');
    await (await open('data.json')).getByText('"city": ').waitFor();
    expect(await browsing.barriers()).toEqual([]);
    await page.keyboard.press('Escape');
    await (await open('model.bin')).getByText('Preview is not available').waitFor();
    await page.keyboard.press('Escape');
  });

  test('shows the stored events of the run', async () => {
    await page.getByRole('link', { name: 'Events', exact: true }).click();
    const events = page.getByRole('list', { name: 'Events' });
    await events.getByText('RunFinished', { exact: true }).click();
    await events.getByText('"outcome": "success"').waitFor();
    expect(await browsing.barriers()).toEqual([]);
    await page.goBack();
    await page.getByRole('region', { name: 'parameters' }).waitFor();
  });

  test('compares facts, parameters, code, packages, artifacts and logs with the previous run', async () => {
    await page.goto(`${product.baseUrl}/runs/${after}`);
    await page.getByRole('link', { name: 'Compare' }).click();
    await page.getByText('Select a run to compare with.').waitFor();
    await page.getByRole('link', { name: 'Previous run' }).click();
    await page.waitForURL(`**/runs/${after}/compare/${before}`);
    const parameters = page.getByRole('table', { name: 'Parameters that differ' });
    await parameters.getByRole('row', { name: 'days 1 7' }).waitFor();
    await page.getByRole('table', { name: 'Facts' }).getByText('Peak memory').waitFor();
    await page.getByText('+platform = Platform()').waitFor();
    await page.getByText('Both runs used the same packages.').waitFor();
    await page.getByRole('button', { name: 'Compare logs' }).click();
    await page.getByText('− rows {"days":1}').waitFor();
    await page.getByText('+ rows {"days":7}').waitFor();
    await page.getByRole('button', { name: 'Compare summary.txt' }).click();
    const artifact = page.getByRole('dialog', { name: 'summary.txt' });
    await artifact.getByText('+ {"days":7}').waitFor();
    expect(await browsing.barriers()).toEqual([]);
    await page.keyboard.press('Escape');
    await page.getByRole('row', { name: 'notes.md' }).getByText('Only in this run').waitFor();
    expect(await browsing.barriers()).toEqual([]);
    await page.getByLabel('Run ID').fill(`${product.baseUrl}/runs/${after}`);
    await page.getByRole('button', { name: 'Compare', exact: true }).click();
    await page.getByText('Both runs have the same parameters.').waitFor();
  });

  test('reruns a run with the same version', async () => {
    await page.goto(`${product.baseUrl}/runs/${before}`);
    await page.getByRole('button', { name: 'Rerun original version' }).click();
    await page.waitForURL((url) => !url.pathname.includes(before));
    await page.getByRole('status', { name: 'Run status' }).getByText('Success').waitFor();
    await page.getByText('rows {"days":1}').waitFor();
    expect(await page.getByText('Rerun', { exact: true }).count()).toBe(1);
  });

  test('shows the error of a failed run, and the line that raised it', async () => {
    const code = `import json
def load(text):
    return float(json.loads(text))
load('"n/a"')
`;
    const script = await product.script('imports', { 'main.py': code });
    const { run_id: id } = await product.run(script);
    await product.untilFinished(id);
    const headline = "ValueError: could not convert string to float: 'n/a'";
    await page.goto(`${product.baseUrl}/runs/${id}`);
    const error = page.getByRole('region', { name: 'Error' });
    await error.getByText(headline).waitFor();
    await error.getByText('main.py:3').waitFor();
    await error.getByText('return float(json.loads(text))').waitFor();
    // The run page shows the code of the run's version, even after the script changes.
    await product.call('PUT', `/scripts/${script}/files/main.py`, {
      content: 'print("rewritten")',
      encoding: 'utf-8',
    });
    await error.getByRole('button', { name: 'main.py:3' }).click();
    await error
      .getByRole('region', { name: /^Version \d+ at main\.py:3$/ })
      .getByText('import json')
      .waitFor();
    expect(await browsing.barriers()).toEqual([]);
    await page.goto(`${product.baseUrl}/runs`);
    await page.getByRole('row', { name: 'imports' }).getByText(headline).waitFor();
    expect(await browsing.barriers()).toEqual([]);
  });

  test('lets a viewer compare runs, but neither see code nor start runs', async () => {
    await browsing.signOut();
    await browsing.signIn(
      `${product.baseUrl}/runs/${after}/compare/${before}`,
      'viewer@example.com',
    );
    await page.getByRole('table', { name: 'Parameters that differ' }).waitFor();
    expect(await page.getByRole('heading', { name: 'Code and settings' }).count()).toBe(0);
    await page.getByRole('link', { name: 'Back to run' }).click();
    await page.getByRole('link', { name: 'Compare' }).waitFor();
    expect(await page.getByRole('button', { name: /Run|Rerun original version/ }).count()).toBe(0);
    expect(await browsing.barriers()).toEqual([]);
  });
});
