// Long because all editor tests share one product and one browser.
/** The script editor, tested in a real browser against the real product. */
import type { Page } from 'playwright-core';
import { beforeEach, expect, test } from 'vitest';
import { describeWith } from '../../scripts/testing/optional-service.ts';
import { chromiumService, type Browsing } from './testing/browsing.ts';
import { openDashboard } from './testing/dashboard.ts';
import { productPassword, type Product } from '../../services/minimal/testing/product.ts';

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

  test('formats Python on request, and can undo the formatting', async () => {
    await codeOf('main.py').press('Shift+Alt+F');
    await page.getByRole('button', { name: 'main.py (unsaved)' }).waitFor();
    await page.keyboard.press('Control+s');
    await page.getByText('Saved', { exact: true }).waitFor();
    expect(await saved('main.py')).toBe(tidy);
    await page.getByRole('button', { name: 'Format' }).click();
    await page.getByText('Already formatted').waitFor();

    await codeOf('main.py').press('Control+z');
    await page.keyboard.press('Control+s');
    await expect.poll(() => saved('main.py')).toBe(ugly);
  });

  test('leaves invalid Python unchanged, and names the line that contains the error', async () => {
    await codeOf('main.py').fill('def broken(:\n    pass\n');
    await page.getByRole('button', { name: 'Format' }).click();
    await page.getByText('Could not format main.py').waitFor();
    await page.getByText('Line 1, column 12: Expected').waitFor();
    await page.keyboard.press('Control+s');
    await expect.poll(() => saved('main.py')).toBe('def broken(:\n    pass\n');
  });

  test('marks problems and offers quick fixes, and is the only page that loads the linter', async () => {
    await codeOf('main.py').fill('import os\nimport sys\nprint(sys.version, missing)\n');
    await page.getByRole('button', { name: '2 problems' }).click();
    const problems = page.getByRole('list', { name: 'Problems' });
    await problems.getByText('Undefined name `missing`').waitFor();
    expect(await browsing.barriers()).toEqual([]);
    await problems.getByRole('button', { name: 'Remove unused import: `os`' }).click();
    await page.getByRole('button', { name: '1 problem' }).waitFor();
    await page.keyboard.press('Control+s');
    await expect.poll(() => saved('main.py')).toBe('import sys\nprint(sys.version, missing)\n');

    const loaded: string[] = [];
    page.on('request', (request) => loaded.push(request.url()));
    await page.goto(`${product.baseUrl}/scripts/${scriptId}/runs`);
    await browsing.untilQuiet();
    expect(loaded.filter((url) => /\.wasm$|worker/.test(url))).toEqual([]);
    expect(loaded.filter((url) => new URL(url).origin !== product.baseUrl)).toEqual([]);
    const scripts = await page.evaluate(() =>
      performance
        .getEntriesByType('resource')
        .filter(({ name }) => name.endsWith('.js'))
        .map((entry) => ('encodedBodySize' in entry ? Number(entry.encodedBodySize) : 0)),
    );
    const bytes = scripts.reduce((sum, one) => sum + one, 0);
    expect(bytes).toBeGreaterThan(50_000);
    expect(bytes, 'the editor itself is not loaded either').toBeLessThan(200_000);
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
    await files.getByRole('button', { name: 'Actions for modules/rows.py' }).click();
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
    await files.getByRole('button', { name: 'Actions for cities.csv' }).click();
    await page.getByRole('menuitem', { name: 'Delete' }).click();
    await page.getByRole('button', { name: 'Delete file' }).click();
    await page.getByText('Deleted cities.csv').waitFor();
    await tabs.getByText('cities.csv').waitFor({ state: 'detached' });
  });

  test('compares two versions, and shows whether the requirements are installed', async () => {
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
    const dialog = page.getByRole('dialog', { name: 'main.py was also changed by another user' });
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

  test('names another user who has the same file open, until that user closes the file', async () => {
    const account = { name: 'Grace', email: 'grace@example.com', password: productPassword };
    await product.call('POST', '/users', { ...account, role: 'administrator' });
    const other = await browsing.another();
    await other.signIn(`${product.baseUrl}/scripts/${scriptId}`, account.email);
    const notice = page.getByText('Grace also has this file open.');
    await notice.waitFor();
    const { name } = await product.call<{ name: string }>('GET', '/auth/me');
    await other.page.getByText(`${name} also has this file open.`).waitFor();
    expect(await browsing.barriers()).toEqual([]);

    await other.page.getByRole('button', { name: 'rows.py', exact: true }).click();
    await notice.waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'rows.py', exact: true }).click();
    await notice.waitFor();
    await other.page.close();
    await notice.waitFor({ state: 'detached' });
    expect(other.complaints).toEqual([]);
  });

  test('restores unsaved changes after a reload, and discards them on request', async () => {
    await codeOf('main.py').fill('print("draft")\n');
    await page.getByRole('button', { name: 'main.py (unsaved)' }).waitFor();
    await page.reload();
    await codeOf('main.py').getByText('draft').waitFor();
    await page.getByText('Unsaved changes from').waitFor();
    expect(await browsing.barriers()).toEqual([]);
    expect(await saved('main.py')).toBe(ugly);
    await page.getByRole('button', { name: 'Discard changes' }).click();
    await codeOf('main.py').getByText('sys.version ,end').waitFor();
    await page.reload();
    await codeOf('main.py').getByText('sys.version ,end').waitFor();
    expect(await page.getByText('Unsaved changes from').count()).toBe(0);
  });

  test('announces another user’s save immediately, and merges both changes', async () => {
    const save = (path: string, content: string) =>
      product.call('PUT', `/scripts/${scriptId}/files/${path}`, { content, encoding: 'utf-8' });
    await page.getByRole('button', { name: 'rows.py', exact: true }).click();
    await codeOf('modules/rows.py').waitFor();
    await save('modules/rows.py', 'rows = 5\n');
    await codeOf('modules/rows.py').getByText('5').waitFor();
    await page.getByText('modules/rows.py was updated by admin@example.com').waitFor();

    await page.getByRole('button', { name: 'main.py', exact: true }).first().click();
    await codeOf('main.py').fill(`${ugly}# mine\n`);
    await save('main.py', `# theirs\n${ugly}`);
    await page.getByText('admin@example.com saved a newer version of main.py.').waitFor();
    expect(await browsing.barriers()).toEqual([]);
    await page.getByRole('button', { name: 'Compare and merge' }).click();
    const dialog = page.getByRole('dialog', { name: 'main.py was also changed by another user' });
    await dialog.getByText('The changes do not overlap.').waitFor();
    expect(await browsing.barriers()).toEqual([]);
    await dialog.getByRole('button', { name: 'Save merged version' }).click();
    await expect.poll(() => saved('main.py')).toBe(`# theirs\n${ugly}# mine\n`);
  });

  test('completes the members of the platform object', async () => {
    await codeOf('main.py').fill('from orchestrator import Platform\nplatform = Platform()\n');
    await page.keyboard.press('Control+End');
    await page.keyboard.type('platform.sec');
    await page.getByRole('option', { name: 'secrets', selected: true }).waitFor();
    await page.keyboard.press('Control+f');
    await page.getByRole('textbox', { name: 'Find' }).fill('Platform');
    expect(await browsing.barriers()).toEqual([]);
  });

  test(
    'completes names, and shows documentation and definitions',
    { timeout: 180_000 },
    async () => {
      const rows =
        'def rows_of(count: int) -> list[int]:\n    """Makes rows."""\n    return [count]\n';
      await product.call('PUT', `/scripts/${scriptId}/files/modules/rows.py`, {
        content: rows,
        encoding: 'utf-8',
      });
      await page.reload();
      await codeOf('main.py').fill('from modules.rows import rows_of\nimport json\nrows_of(2)\n');
      await page.keyboard.press('Control+End');
      // The static completion list does not contain json, so this completion comes from the language server. The language
      // server starts slowly on a busy machine.
      await page.keyboard.type('json.dum');
      const offered = page.getByRole('option', { name: 'dumps' });
      const isOffered = async () => {
        await page.keyboard.press('Control+Space');
        return await offered.waitFor({ timeout: 20_000 }).then(
          () => true,
          () => false,
        );
      };
      await expect.poll(isOffered, { timeout: 100_000 }).toBe(true);
      expect(await browsing.barriers()).toEqual([]);
      await page.keyboard.press('Escape');
      await codeOf('main.py')
        .getByText('rows_of(2)')
        .hover({ position: { x: 20, y: 8 } });
      await page.getByText('Makes rows.').waitFor();
      await page.keyboard.type('\nprint(');
      await page.getByText('Prints the values to a stream').waitFor();
      expect(await browsing.barriers()).toEqual([]);
      await page.keyboard.press('Control+Home');
      for (const key of ['ArrowDown', 'ArrowDown', 'ArrowRight']) await page.keyboard.press(key);
      await page.keyboard.press('F12');
      await codeOf('modules/rows.py').waitFor();
      await page.getByText('Ln 1, Col 5').waitFor();
    },
  );

  test('finds text in all files, and jumps to a function in the outline', async () => {
    await page.keyboard.press('Control+Shift+F');
    const find = page.getByRole('dialog', { name: 'Find in all files' });
    await find.getByLabel('Find').fill('rows');
    await find.getByText('1 occurrence in 1 file').waitFor();
    expect(await browsing.barriers()).toEqual([]);
    await find.getByRole('region', { name: 'modules/rows.py' }).getByRole('button').click();
    await codeOf('modules/rows.py').fill('class Rows:\n    def total(self): pass\n');
    await page.keyboard.press('Control+Shift+O');
    const outline = page.getByRole('dialog', { name: 'Outline of modules/rows.py' });
    await outline.getByRole('button', { name: 'class Rows 1' }).waitFor();
    expect(await browsing.barriers()).toEqual([]);
    await outline.getByLabel('Filter').fill('tot');
    await page.keyboard.press('Enter');
    await page.getByText('Ln 2, Col 9').waitFor();
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

  test('asks for declared parameters before a run, and opens the log of that run', async () => {
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

  test('proposes a parameter form based on the code, and fills it with the parameters of an earlier run', async () => {
    await codeOf('main.py').fill(
      [
        'import json, os',
        'from orchestrator import Platform',
        'params = Platform().params',
        'print("day", params["day"], "hosts", json.dumps(params.get("hosts", ["a", "b"])))',
        'print("rows", int(params["rows"]))  # Most lines',
        'print(date.fromisoformat(params["day"])) if False else None',
        '',
      ].join('\n'),
    );
    await page.keyboard.press('Control+s');
    await page.getByText('Saved', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Run with parameters' }).click();
    await page.getByRole('link', { name: 'Propose one from the code' }).click();
    const schema = page.getByRole('textbox', { name: 'Parameter schema' });
    await expect.poll(() => schema.inputValue()).toContain('"rows"');
    await page.getByRole('button', { name: 'Save settings' }).click();
    await page.getByText('Settings saved').waitFor();
    expect(await browsing.barriers()).toEqual([]);

    await page.goto(`${product.baseUrl}/scripts`);
    // The first button belongs to the newest script.
    await page.getByRole('button', { name: 'Run report' }).first().click();
    const form = page.getByRole('dialog', { name: 'Run report' });
    await form.getByLabel('rows').fill('1.5');
    await form.getByRole('button', { name: 'Run', exact: true }).click();
    await form.getByText('day is required.').waitFor();
    await form.getByText('Enter a whole number.').waitFor();
    expect(await form.getByLabel('hosts').inputValue()).toBe('a\nb');
    expect(await browsing.barriers()).toEqual([]);
    const day = form.getByRole('textbox', { name: 'day *' });
    await day.fill('2026-03');
    await form.getByRole('button', { name: 'Run', exact: true }).click();
    expect(await day.getAttribute('title')).toBe('Enter a date such as 2026-11-25.');
    await day.fill('2026-03-01');
    await form.getByLabel('rows').fill('7');
    await form.getByLabel('hosts').fill('one\ntwo\n');
    await form.getByRole('button', { name: 'Run', exact: true }).click();
    await page.getByText('day 2026-03-01 hosts ["one", "two"]').waitFor();

    await page.goto(`${product.baseUrl}/scripts/${scriptId}`);
    await codeOf('main.py').press('Control+Enter');
    await form.getByLabel('Previous inputs').selectOption({ index: 1 });
    expect(await form.getByRole('textbox', { name: 'day *' }).inputValue()).toBe('2026-03-01');
    expect(await form.getByLabel('hosts').inputValue()).toBe('one\ntwo');
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
