/** Expired sessions, lost connections, error responses and hostile input, tested in a real browser against the real
 *  product. */
import type { Page, Route } from 'playwright-core';
import { afterEach, expect, test } from 'vitest';
import { describeWith } from '../../scripts/testing/optional-service.ts';
import { chromiumService, type Browsing } from './testing/browsing.ts';
import { openDashboard } from './testing/dashboard.ts';
import { productPassword, type Product } from '../../services/minimal/testing/product.ts';

const lines = 60;
/** A script that runs longer than a backend restart takes, even on a slow machine. */
const steady = `import time
for number in range(1, ${lines} + 1):
    print("row", number, flush=True)
    time.sleep(0.1 if number < 6 else 0.4)
`;

describeWith(chromiumService, 'the dashboard after an interruption', () => {
  let product: Product;
  let browsing: Browsing;
  let page: Page;
  openDashboard(async (opened) => {
    ({ product, browsing, page } = opened);
    await browsing.signIn(product.baseUrl);
  });
  // The browser logs an error for each WebSocket that cannot connect.
  afterEach(() => browsing.forgive('WebSocket connection'));

  const code = () => page.getByRole('textbox', { name: 'Code of main.py' });
  const banner = () => page.getByText(/^\s*Disconnected for/);
  const saved = async (scriptId: string) =>
    await (await product.fetch('GET', `/scripts/${scriptId}/files/main.py`)).text();

  test('keeps unsaved text when the session has expired', async () => {
    const scriptId = await product.script('unfinished', { 'main.py': 'print("before")\n' });
    await page.goto(`${product.baseUrl}/scripts/${scriptId}`);
    await code().fill('print("hours of work")\n');
    await product.call('DELETE', '/auth/sessions');
    await page.keyboard.press('Control+s');
    const dialog = page.getByRole('dialog', { name: 'Your session has ended' });
    await dialog.waitFor();
    expect(await browsing.barriers()).toEqual([]);
    await dialog.getByLabel('Password').fill('not the password');
    await dialog.getByRole('button', { name: 'Sign in' }).click();
    await dialog.getByRole('alert').waitFor();
    await dialog.getByLabel('Password').fill(productPassword);
    await dialog.getByRole('button', { name: 'Sign in' }).click();
    await dialog.waitFor({ state: 'detached' });
    await code().getByText('hours of work').waitFor();
    expect(await saved(scriptId)).toBe('print("before")\n');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('Saved', { exact: true }).waitFor();
    expect(await saved(scriptId)).toBe('print("hours of work")\n');
  });

  test('shows only the sign-in dialog if a list is refused because the session has ended', async () => {
    await page.goto(`${product.baseUrl}/scripts`);
    await page.getByRole('link', { name: 'unfinished' }).waitFor();
    await product.call('DELETE', '/auth/sessions');
    await page.keyboard.press('r');
    const dialog = page.getByRole('dialog', { name: 'Your session has ended' });
    await dialog.waitFor();
    await browsing.untilQuiet();
    expect(await page.locator('main [role=alert]').count()).toBe(0);
    await dialog.getByLabel('Password').fill(productPassword);
    await dialog.getByRole('button', { name: 'Sign in' }).click();
    await dialog.waitFor({ state: 'detached' });
  });

  test('resumes a log without missing or repeated lines once the server is reachable again', async () => {
    const got: number[] = [];
    const asked: string[] = [];
    page.on('websocket', (socket) => {
      if (!socket.url().includes('/ws/runs/')) return;
      asked.push(socket.url());
      socket.on('framereceived', ({ payload }) => {
        const frame = JSON.parse(String(payload)) as { items?: { seq: number }[] };
        got.push(...(frame.items ?? []).map(({ seq }) => seq));
      });
    });
    await page.setViewportSize({ width: 1280, height: 2400 });
    const { run_id: runId } = await product.run(
      await product.script('steady', { 'main.py': steady }),
    );
    await page.goto(`${product.baseUrl}/runs/${runId}`);
    const log = page.getByRole('region', { name: 'Log', exact: true });
    await log.getByText('row 5', { exact: true }).waitFor();
    process.kill(await product.pidOf('backend'), 'SIGKILL');
    await banner().waitFor();
    await banner().waitFor({ state: 'detached', timeout: 30_000 });
    await page.getByRole('status', { name: 'Run status' }).getByText('Success').waitFor();
    await page.getByRole('status', { name: 'Log connection' }).getByText('Complete').waitFor();
    await log.getByText(`row ${lines}`, { exact: true }).waitFor();

    const all = (await product.log(runId)).map(({ seq }) => seq);
    const rows = log.locator('[data-seq]');
    expect(
      await rows.evaluateAll((found) => found.map((row) => Number(row.getAttribute('data-seq')))),
    ).toEqual(all);
    const texts = await log.locator('.log-text').allTextContents();
    expect(texts.filter((text) => text.startsWith('row '))).toHaveLength(lines);
    // The page itself loaded the earlier lines.
    expect(got).toEqual(all.slice(all.indexOf(got[0] ?? 0)));
    expect(asked.length).toBeGreaterThan(1);
    await page.setViewportSize({ width: 1280, height: 800 });
  });

  test('keeps the page visible and pauses the durations of active runs while disconnected', async () => {
    const { run_id: runId } = await product.run(
      await product.script('endless', { 'main.py': 'import time\ntime.sleep(600)\n' }),
    );
    await page.goto(`${product.baseUrl}/runs/${runId}`);
    const duration = page.locator('dl > div', { hasText: 'Duration' }).locator('dd');
    await duration.getByText(/^\d+\.\d s$/).waitFor();
    const heading = page.getByRole('heading', { level: 1 });
    const before = await heading.boundingBox();
    await page.context().setOffline(true);
    await banner().waitFor();
    const stopped = await duration.innerText();
    expect(await heading.boundingBox()).toEqual(before);
    await page.getByText(/Disconnected for ([3-9]|\d\d) s/).waitFor();
    expect(await duration.innerText()).toBe(stopped);
    await page.context().setOffline(false);
    await banner().waitFor({ state: 'detached' });
    await expect.poll(() => duration.innerText()).not.toBe(stopped);
    await product.call('POST', `/runs/${runId}/stop`);
  });

  test('reports a lost connection until the browser is online again', async () => {
    await page.goto(`${product.baseUrl}/scripts`);
    await page.getByRole('link', { name: 'steady', exact: true }).waitFor();
    // Waits for a pending reload, which could otherwise replace the reload that this test triggers.
    await browsing.untilQuiet();
    const held = Promise.withResolvers<Route>();
    await page.route('**/api/v1/scripts?*', (route) => held.resolve(route), { times: 1 });
    await page.keyboard.press('r');
    const late = await held.promise;
    await page.context().setOffline(true);
    await banner().waitFor();
    // The pending request still receives a response.
    const answered = page.waitForResponse(late.request().url());
    await late.fulfill({ json: { items: [], next_cursor: null } });
    await (await answered).finished();
    expect(await browsing.barriers()).toEqual([]);
    await page.getByRole('button', { name: 'Retry now' }).click();
    await banner().waitFor();
    await product.call('POST', '/scripts', { name: 'made meanwhile' });
    await page.context().setOffline(false);
    await banner().waitFor({ state: 'detached' });
    await page.getByRole('link', { name: 'made meanwhile' }).waitFor();
  });
});

/** The URLs of pages whose lists may be long. */
const lists = [
  '/',
  '/scripts',
  '/runs',
  '/schedules',
  '/chains',
  '/notifications',
  '/notifications/channels',
  '/notifications/rules',
  '/notifications/deliveries',
  '/audit',
  '/replay',
  '/people',
  '/backups',
  '/updates',
  '/system',
  '/models',
  '/account',
];
const outOfOrder = { title: 'Out of order', code: 'out_of_order', status: 418, detail: 'No tea.' };
const markup = '<img src=x onerror="hurt=1"><script>hurt=1</script><b>bold</b>&amp;';

describeWith(chromiumService, 'the dashboard with failing responses or hostile input', () => {
  let product: Product;
  let browsing: Browsing;
  let page: Page;
  openDashboard(async (opened) => {
    ({ product, browsing, page } = opened);
    await browsing.signIn(product.baseUrl);
  });

  const code = () => page.getByRole('textbox', { name: 'Code of main.py' });
  const saved = async (scriptId: string) =>
    await (await product.fetch('GET', `/scripts/${scriptId}/files/main.py`)).text();

  test(
    'shows an error for each list that fails to load, and offers a retry',
    { timeout: 120_000 },
    async () => {
      const script = `/scripts/${await product.script('lists', { 'main.py': '' })}`;
      const known = ['/api/v1/auth/refresh', '/api/v1/auth/me', `/api/v1${script}`];
      const tabs = ['/runs', '/schedules', '/webhooks', '/secrets'].map((tab) => script + tab);
      for (const path of [...lists, ...tabs]) {
        await page.route(
          ({ pathname }) => pathname.startsWith('/api/') && !known.includes(pathname),
          (route) => route.fulfill({ status: 418, json: outOfOrder }),
        );
        const url = product.baseUrl + path;
        // Links take a third of the time.
        await (page.url() === url ? page.goto(url) : browsing.follow(url));
        const alerts = page.getByRole('alert').filter({ hasText: outOfOrder.detail });
        const again = alerts.getByRole('button', { name: 'Try again' });
        await again.first().waitFor();
        // Waits for pending requests. Otherwise, their errors would appear after the data is reloaded.
        await browsing.untilQuiet();
        await page.unrouteAll();
        const left = async () => {
          if ((await again.count()) > 0) await again.first().click();
          await browsing.untilQuiet();
          return await alerts.count();
        };
        await expect.poll(left, { message: path }).toBe(0);
        expect(browsing.complaints, path).toEqual([]);
      }
    },
  );

  test(
    'keeps ten megabytes of pasted text in the editor, and saves the file only after it is shortened',
    { timeout: 180_000 },
    async () => {
      const scriptId = await product.script('big', { 'main.py': '' });
      await page.goto(`${product.baseUrl}/scripts/${scriptId}`);
      await code().click();
      await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
      await page.evaluate(`navigator.clipboard.writeText('# ten bytes\\n'.repeat(1024 * 1024))`);
      await page.keyboard.press('Control+v');
      await page.keyboard.press('Control+s');
      await page.getByText('Could not save').waitFor({ timeout: 30_000 });
      await page.getByText(/may have at most \d+ bytes/).waitFor();
      await page.getByRole('button', { name: 'main.py (unsaved)' }).waitFor();
      await page.keyboard.press('Control+a');
      await page.keyboard.type('print("less")');
      await page.keyboard.press('Control+s');
      await page.getByText('Saved', { exact: true }).waitFor();
      expect(await saved(scriptId)).toBe('print("less")');
    },
  );

  test(
    'shows markup in names, log lines and messages as plain text',
    { timeout: 120_000 },
    async () => {
      const source = `print(${JSON.stringify(markup)})\nraise RuntimeError(${JSON.stringify(markup)})\n`;
      const scriptId = await product.script(markup, { 'main.py': source });
      const { run_id: runId } = await product.run(scriptId, { params: { name: markup } });
      await product.untilFinished(runId);
      const tabs = ['', '/runs', '/settings'].map((tab) => `/scripts/${scriptId}${tab}`);
      const views = ['', '?view=why', '?view=data', '?view=events'].map(
        (view) => `/runs/${runId}${view}`,
      );
      for (const path of [
        '/',
        '/scripts',
        '/runs',
        '/notifications',
        '/audit',
        ...tabs,
        ...views,
      ]) {
        await browsing.follow(product.baseUrl + path);
        await page.getByRole('heading').first().waitFor();
        await browsing.untilQuiet();
        expect(await page.locator('img[src=x], main script, main b').count(), path).toBe(0);
        expect(await page.evaluate(`'hurt' in window`), path).toBe(false);
      }
      await page.goto(`${product.baseUrl}/runs/${runId}`);
      await page.getByRole('heading', { level: 1 }).getByText(markup).waitFor();
      const log = page.getByRole('region', { name: 'Log', exact: true });
      await log.getByText(markup, { exact: true }).waitFor();
      await page.getByLabel('Search the log').fill('<b>bold');
      await log.locator('mark').getByText('<b>bold').first().waitFor();
      await page.keyboard.press('Control+k');
      await page.getByPlaceholder('Search pages').fill('<img');
      await page.getByRole('option', { name: markup }).first().waitFor();
      expect(await page.evaluate(`'hurt' in window`)).toBe(false);
    },
  );
});
