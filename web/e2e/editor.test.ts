/** The script editor, in a real browser with the real product. */
import type { Page } from 'playwright-core';
import { beforeEach, expect, test } from 'vitest';
import { describeWith } from '../../scripts/testing/optional-service.ts';
import { chromiumService, type Browsing } from './testing/browsing.ts';
import { openDashboard } from './testing/dashboard.ts';
import type { Product } from '../../services/minimal/testing/product.ts';

const ugly = "import   sys\nprint( \"one\",sys.version ,end = '' )\nprint('two')\n";
const tidy = 'import sys\n\nprint("one", sys.version, end="")\nprint("two")\n';

describeWith(chromiumService, 'the script editor', () => {
  let product: Product;
  let browsing: Browsing;
  let page: Page;
  let scriptId: string;
  openDashboard(async (opened) => {
    ({ product, browsing, page } = opened);
    await browsing.signIn(product.baseUrl);
  });
  beforeEach(async () => {
    scriptId = await product.script('report', {
      'main.py': ugly,
      'modules/rows.py': 'rows = 1\n',
      'requirements.txt': '\n',
    });
    await page.goto(`${product.baseUrl}/scripts/${scriptId}`);
    await codeOf('main.py').waitFor();
  });

  const codeOf = (path: string) => page.getByRole('textbox', { name: `Code of ${path}` });
  const saved = async (path: string) =>
    await (await product.fetch('GET', `/scripts/${scriptId}/files/${path}`)).text();

  test('formats Python on request, and undoes it', async () => {
    const loaded: string[] = [];
    page.on('request', (request) => loaded.push(request.url()));
    await codeOf('main.py').press('Shift+Alt+F');
    await page.getByRole('button', { name: 'main.py (unsaved)' }).waitFor();
    expect(loaded.filter((url) => url.endsWith('.wasm'))).toHaveLength(1);
    await page.keyboard.press('Control+s');
    await page.getByText('Saved', { exact: true }).waitFor();
    expect(await saved('main.py')).toBe(tidy);
    await page.getByRole('button', { name: 'Format' }).click();
    await page.getByText('Already formatted').waitFor();

    await codeOf('main.py').press('Control+z');
    await page.keyboard.press('Control+s');
    await expect.poll(() => saved('main.py')).toBe(ugly);
  });

  test('leaves invalid Python unchanged, and names the line with the error', async () => {
    await codeOf('main.py').fill('def broken(:\n    pass\n');
    await page.getByRole('button', { name: 'Format' }).click();
    await page.getByText('Could not format main.py').waitFor();
    await page.getByText('Line 1, column 12: Expected').waitFor();
    await page.keyboard.press('Control+s');
    await expect.poll(() => saved('main.py')).toBe('def broken(:\n    pass\n');
  });

  test('opens, renames, uploads and deletes files, and asks about unsaved changes', async () => {
    const tabs = page.getByRole('list', { name: 'Open files' });
    const files = page.getByRole('navigation', { name: 'Files' });
    await files.getByRole('button', { name: 'rows.py' }).click();
    await codeOf('modules/rows.py').fill('rows = 2\n');
    await tabs.getByRole('button', { name: 'main.py', exact: true }).click();
    await codeOf('main.py').waitFor();
    await tabs.getByRole('button', { name: 'Close modules/rows.py' }).click();
    await page.getByRole('button', { name: 'Keep open' }).click();
    await page.keyboard.press('Control+s');
    await page.getByText('Saved', { exact: true }).waitFor();
    expect(await saved('modules/rows.py')).toBe('rows = 2\n');
    expect(await browsing.barriers()).toEqual([]);

    await files.getByRole('button', { name: 'rows.py', exact: true }).click();
    await files.getByRole('button', { name: 'Actions of modules/rows.py' }).click();
    await page.getByRole('menuitem', { name: 'Rename or move' }).click();
    await page.getByLabel('New path').fill('main.py');
    await page.getByRole('button', { name: 'Rename', exact: true }).click();
    await page.getByText('A file with this name already exists.').waitFor();
    await page.getByLabel('New path').fill('lib/rows.py');
    await page.getByRole('button', { name: 'Rename', exact: true }).click();
    await codeOf('lib/rows.py').waitFor();
    expect(await saved('lib/rows.py')).toBe('rows = 2\n');

    await page.getByLabel('Files to upload').setInputFiles({
      name: 'cities.csv',
      mimeType: 'text/csv',
      buffer: Buffer.from('Bern\n'),
    });
    await codeOf('cities.csv').waitFor();
    await files.getByRole('button', { name: 'Actions of cities.csv' }).click();
    await page.getByRole('menuitem', { name: 'Delete' }).click();
    await page.getByRole('button', { name: 'Delete file' }).click();
    await page.getByText('Deleted cities.csv').waitFor();
    await tabs.getByText('cities.csv').waitFor({ state: 'detached' });
  });

  test('compares two versions, and explains the requirements', async () => {
    await codeOf('main.py').fill('print("new")\n');
    await page.keyboard.press('Control+s');
    await page.getByText('Saved', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Versions' }).click();
    const dialog = page.getByRole('dialog', { name: 'Versions of report' });
    await dialog.getByText('+print("new")').waitFor();
    expect(await browsing.barriers()).toEqual([]);
    await dialog.getByLabel('Earlier version').selectOption({ index: 4 });
    await dialog.getByText('modules/rows.py', { exact: true }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'requirements.txt', exact: true }).click();
    await page.getByText('No packages are installed for this version yet.').waitFor();
    await page.getByRole('meter', { name: 'Storage' }).waitFor();
    expect(await browsing.barriers()).toEqual([]);
  });

  test('does not overwrite the changes of another user', async () => {
    await codeOf('main.py').fill('print("mine")\n');
    const content = { content: 'print("theirs")\n', encoding: 'utf-8' };
    await product.call('PUT', `/scripts/${scriptId}/files/main.py`, content);
    await page.keyboard.press('Control+s');
    const dialog = page.getByRole('dialog', { name: 'main.py has conflicting changes' });
    await dialog.getByText('print("theirs")').waitFor();
    expect(await browsing.barriers()).toEqual([]);
    await dialog.getByRole('button', { name: 'Load saved version' }).click();
    await codeOf('main.py').getByText('theirs').waitFor();
    await codeOf('main.py').fill('print("mine again")\n');
    await page.getByRole('link', { name: 'Dashboard' }).click();
    await page.getByRole('button', { name: 'Save and leave' }).click();
    await page.waitForURL(`${product.baseUrl}/`);
    expect(await saved('main.py')).toBe('print("mine again")\n');
  });

  test('completes the names of the platform package after a dot', async () => {
    await codeOf('main.py').fill('from orchestrator import Platform\nplatform = Platform()\n');
    await page.keyboard.press('Control+End');
    await page.keyboard.type('platform.sec');
    await page.getByRole('option', { name: 'secrets', selected: true }).waitFor();
    await page.keyboard.press('Control+f');
    await page.getByRole('textbox', { name: 'Find' }).fill('Platform');
    expect(await browsing.barriers()).toEqual([]);
  });

  test('saves and runs on Ctrl+Enter, and shows the log next to the code on a wide screen', async () => {
    await codeOf('main.py').fill('print("hello from the panel")\n');
    await page.keyboard.press('Control+Enter');
    const run = page.getByRole('region', { name: 'Run', exact: true });
    await run.getByText('hello from the panel').waitFor();
    const edges = async () => [await codeOf('main.py').boundingBox(), await run.boundingBox()];
    const [code, log] = await edges();
    expect((log?.x ?? 0) - (code?.x ?? 0)).toBeGreaterThan(200);
    await page.getByRole('button', { name: 'Show log below the editor' }).click();
    const [above, beneath] = await edges();
    expect((beneath?.y ?? 0) - (above?.y ?? 0)).toBeGreaterThan(200);
    expect(await browsing.barriers()).toEqual([]);
  });

  test('asks for declared parameters before a run, and opens the log of the run', async () => {
    await product.call('PATCH', `/scripts/${scriptId}`, {
      parameters_schema: {
        type: 'object',
        required: ['city'],
        properties: {
          city: { type: 'string', title: 'City' },
          days: { type: 'integer', maximum: 7 },
        },
      },
    });
    await page.reload();
    await codeOf('main.py').fill('import os\nprint("given", os.environ["ORCH_PARAMS"])\n');
    await page.keyboard.press('Control+Enter');
    const form = page.getByRole('dialog', { name: 'Run report' });
    await form.getByLabel('City').press('Control+Enter');
    await form.getByText('City is required.').waitFor();
    expect(await browsing.barriers()).toEqual([]);
    await form.getByLabel('City').fill('Bern');
    await form.getByLabel('days').fill('9');
    await form.getByRole('button', { name: 'Run' }).click();
    await form.getByText('must be <= 7').waitFor();
    await form.getByLabel('days').fill('3');
    await form.getByLabel('City').press('Control+Enter');
    const run = page.getByRole('region', { name: 'Run', exact: true });
    await run.getByText('given {"city":"Bern","days":3}').waitFor();
    expect(new URL(page.url()).pathname).toBe(`/scripts/${scriptId}`);
  });

  test('restores an earlier version as a new version', async () => {
    await codeOf('main.py').fill('print("later")\n');
    await page.keyboard.press('Control+s');
    await page.getByText('Saved', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Versions' }).click();
    const versions = page.getByRole('dialog', { name: 'Versions of report' });
    await versions.getByRole('region', { name: 'Changes to main.py' }).waitFor();
    expect(await browsing.barriers()).toEqual([]);
    const restored = 'Restore version ';
    await versions.getByRole('button', { name: restored }).click();
    const confirmation = page.getByRole('dialog', { name: restored });
    await confirmation.getByRole('button', { name: restored }).click();
    await page.getByText(/^Version \d+ restored as version \d+$/).waitFor();
    await codeOf('main.py').getByText('sys.version ,end').waitFor();
    expect(await saved('main.py')).toBe(ugly);
  });
});
