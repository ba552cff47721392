// Long because all pages share one product, which takes seconds to start.
/** The pages for triggers, users and administration, tested in a real browser against the real product. */
import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { apiTokenForm } from '../../services/shared/api-tokens.ts';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeWith } from '../../scripts/testing/optional-service.ts';
import { chromiumService, type Browsing } from './testing/browsing.ts';
import { openDashboard } from './testing/dashboard.ts';
import { tamperedRelease, type TamperedRelease } from './testing/tampered-release.ts';
import { until, type Product } from '../../services/minimal/testing/product.ts';

describeWith(chromiumService, 'a dashboard page', () => {
  let product: Product;
  let browsing: Browsing;
  let page: Page;
  let scriptId: string;
  let release: TamperedRelease;
  beforeAll(async () => {
    release = await tamperedRelease('999.0.0');
  });
  afterAll(() => release.remove());
  openDashboard(
    async (opened) => {
      ({ product, browsing, page } = opened);
      scriptId = await product.script('night report', { 'main.py': 'print("rows")\n' });
      await browsing.signIn(`${product.baseUrl}/schedules`);
    },
    () => release,
  );

  test('creates a schedule after a preview, and updates its run history', async () => {
    await page.getByRole('button', { name: 'New schedule' }).first().click();
    const dialog = page.getByRole('dialog', { name: 'New schedule' });
    await dialog.getByLabel('Script').pressSequentially('night');
    await page.getByRole('option', { name: 'night report' }).click();
    await dialog.getByLabel('Cron expression').fill('0 9 * *');
    await dialog.getByText('A cron expression has 5 fields').waitFor();
    await dialog.getByLabel('Cron expression').fill('30 2 * * *');
    await dialog.getByText('Every day at 02:30').waitFor();
    await dialog.getByLabel('Time zone').fill('America/New_York');
    await dialog.getByRole('columnheader', { name: 'America/New_York' }).waitFor();
    await dialog.getByRole('textbox', { name: 'Preview from' }).fill('2025-03-09T00:00');
    await dialog.getByText(/forward by 60 minutes/).waitFor();
    expect(await browsing.barriers()).toEqual([]);
    await dialog.getByText('Interval').click();
    await dialog.getByRole('spinbutton', { name: 'Every' }).fill('1');
    await dialog.getByLabel('Unit').selectOption('seconds');
    await dialog.getByRole('button', { name: 'Create schedule' }).click();

    await page.getByRole('heading', { name: 'Every second' }).waitFor();
    const ledger = page.getByRole('table', { name: 'Schedule history' });
    await ledger
      .getByText(/Fired|Late/)
      .first()
      .waitFor();
    await page.getByRole('switch', { name: 'Enabled' }).click();
    await page.getByText('Disabled', { exact: true }).waitFor();
    expect(await browsing.barriers()).toEqual([]);

    await page.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('button', { name: 'Delete schedule' }).click();
    await page.getByRole('heading', { name: 'No schedules yet' }).waitFor();
    expect(page.url()).toContain(`/scripts/${scriptId}/schedules`);
  });

  test('shows a webhook URL once, and starts the script when the URL is called', async () => {
    await browsing.follow(`${product.baseUrl}/scripts/${scriptId}/webhooks`);
    await page.getByRole('button', { name: 'New webhook' }).click();
    await page.getByLabel('Name').fill('push');
    await page.getByRole('button', { name: 'Create webhook' }).click();
    const dialog = page.getByRole('dialog', { name: 'URL of “push”' });
    const address =
      (await dialog.getByRole('region', { name: 'URL', exact: true }).textContent()) ?? '';
    expect(address).toContain(`${product.baseUrl}/hooks/whk_`);
    await dialog.getByText('Python').click();
    await dialog.getByText('urllib.request').first().waitFor();
    expect(await browsing.barriers()).toEqual([]);
    await dialog.getByRole('button', { name: 'Send test call' }).click();
    await dialog.getByText('The call was accepted.').waitFor();
    await dialog.getByRole('button', { name: 'Done' }).click();
    const row = page.getByRole('row', { name: /push/ });
    await row.getByText('just now').waitFor();
    expect(await browsing.barriers()).toEqual([]);
    expect(await page.content()).not.toContain('whk_');

    await row.getByRole('button', { name: 'push', exact: true }).click();
    const calls = page.getByRole('dialog', { name: 'Calls to “push”' });
    await calls.getByRole('button', { name: 'Redeliver' }).click();
    await calls.getByText('Redelivered.').waitFor();
    expect(await browsing.barriers()).toEqual([]);
    await page.keyboard.press('Escape');

    await row.getByRole('button', { name: 'Actions for push' }).click();
    await page.getByRole('menuitem', { name: 'Replace URL' }).click();
    await page.getByRole('button', { name: 'Replace URL' }).click();
    await page.getByRole('button', { name: 'Done' }).click();
    expect((await fetch(address, { method: 'POST' })).status).toBe(404);

    await page.getByRole('button', { name: 'New webhook' }).click();
    await page.getByLabel('Name').fill('signed');
    await page.getByLabel('Require signature').check();
    await page.getByRole('button', { name: 'Create webhook' }).click();
    const signed = page.getByRole('dialog', { name: 'URL of “signed”' });
    await signed.getByRole('region', { name: 'signing secret' }).waitFor();
    expect(await browsing.barriers()).toEqual([]);
    await signed.getByRole('button', { name: 'Send test call' }).click();
    await signed.getByText('The call was accepted.').waitFor();
    await signed.getByRole('button', { name: 'Done' }).click();
    await page.getByRole('button', { name: 'Actions for signed' }).click();
    await page.getByRole('menuitem', { name: 'Delete' }).click();
    await page.getByRole('button', { name: 'Delete webhook' }).click();

    await row.getByRole('button', { name: 'Actions for push' }).click();
    await page.getByRole('menuitem', { name: 'Delete' }).click();
    await page.getByRole('button', { name: 'Delete webhook' }).click();
    await page.getByRole('heading', { name: 'No webhooks yet' }).waitFor();
  });

  test('sets a secret without displaying it, and lists the secrets that other users set', async () => {
    await page.getByRole('link', { name: 'Secrets' }).click();
    await page.getByRole('button', { name: 'New secret' }).click();
    await page.getByLabel('Name').fill('API_TOKEN');
    await page.getByLabel('Value').fill('a value that stays hidden');
    await page.getByRole('button', { name: 'Create secret' }).click();
    await page
      .getByRole('row', { name: /API_TOKEN/ })
      .getByText('Never')
      .waitFor();
    expect(await page.content()).not.toContain('a value that stays hidden');
    await product.call('PUT', `/scripts/${scriptId}/secrets/OTHER`, { value: 'from elsewhere' });
    await page.getByRole('row', { name: /OTHER/ }).waitFor();
    await page.getByRole('button', { name: 'New secret' }).click();
    await page.getByLabel('Available to').selectOption('group');
    await page.getByLabel('Name').fill('SHARED');
    await page.getByLabel('Value').fill('a value for all scripts');
    await page.getByLabel('Rotate after').fill('30');
    await page.getByRole('button', { name: 'Create secret' }).click();
    await page
      .getByRole('table', { name: 'Secrets of the group' })
      .getByRole('row', { name: /SHARED.*Rotation due/ })
      .waitFor();
    expect(await browsing.barriers()).toEqual([]);
    for (const name of ['OTHER', 'API_TOKEN', 'SHARED']) {
      await page.getByRole('button', { name: `Actions for ${name}` }).click();
      await page.getByRole('menuitem', { name: 'Delete' }).click();
      await page.getByRole('button', { name: 'Delete secret' }).click();
      await page.getByRole('row', { name }).waitFor({ state: 'detached' });
    }
    await page.getByRole('heading', { name: 'No secrets yet' }).waitFor();
  });

  test('shows an API token once, and ends another session', async () => {
    await product.signIn();
    await page.getByRole('button', { name: 'Account:' }).click();
    await page.getByRole('menuitem', { name: 'Account and API tokens' }).click();
    await page.getByRole('button', { name: 'New token' }).click();
    await page.getByLabel('Name').fill('deploy');
    await page.getByLabel('Start and stop runs').check();
    await page.getByRole('button', { name: 'Create token' }).click();
    const shown = page.getByRole('dialog', { name: 'Token “deploy”' });
    const token = (await shown.getByRole('region', { name: 'token' }).textContent()) ?? '';
    const headers = { authorization: `Bearer ${token}` };
    expect((await fetch(`${product.baseUrl}/api/v1/runs`, { headers })).status).toBe(200);
    expect(await browsing.barriers()).toEqual([]);
    await shown.getByRole('button', { name: 'Done' }).click();
    await page.getByRole('button', { name: 'Revoke deploy' }).click();
    await page.getByRole('button', { name: 'Revoke token' }).click();
    await page.getByText('No API tokens yet. Create one to use the API from a program.').waitFor();
    expect((await fetch(`${product.baseUrl}/api/v1/runs`, { headers })).status).toBe(401);

    await page
      .getByRole('button', { name: /^End the session/ })
      .first()
      .click();
    await page
      .getByRole('button', { name: /^End the session/ })
      .nth(1)
      .waitFor({ state: 'detached' });
    expect((await product.fetch('GET', '/auth/me')).status).toBe(401);
    await product.signIn();
    expect(await browsing.barriers()).toEqual([]);
  });

  test('draws a chain, explains why a cycle is refused, and lists the run history of the chain', async () => {
    const mailId = await product.script('mail it', { 'main.py': 'print("sent")\n' });
    await page.keyboard.press('g');
    await page.keyboard.press('h');
    await page.getByRole('heading', { name: 'No chains yet' }).waitFor();
    const choose = async (field: string, name: string) => {
      await page.getByLabel(field).pressSequentially(name);
      await page.getByRole('option', { name }).click();
      await page.getByRole('listbox').waitFor({ state: 'detached' });
    };
    await page.getByRole('button', { name: 'New chain' }).click();
    await choose('When this script finishes', 'night report');
    await choose('Start this script', 'mail it');
    expect(await browsing.barriers()).toEqual([]);
    await page.getByRole('button', { name: 'Create chain' }).click();
    await page.getByRole('button', { name: 'when night report succeeds, mail it runs' }).waitFor();

    await page.getByRole('button', { name: 'New chain' }).click();
    await choose('When this script finishes', 'mail it');
    await choose('Start this script', 'night report');
    await page.getByText('This would create a loop: mail it → night report → mail it.').waitFor();
    await page.keyboard.press('Escape');

    await product.run(scriptId);
    await page.getByRole('table').getByText('Started', { exact: true }).waitFor();
    expect(await browsing.barriers()).toEqual([]);
    await page.getByRole('switch', { name: 'Chain enabled' }).click();
    await page.getByText('Disabled').first().waitFor();
    await page.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('button', { name: 'Delete chain' }).click();
    await page.getByRole('heading', { name: 'No chains yet' }).waitFor();

    const link = { source_script_id: scriptId, target_script_id: mailId, on: 'any' };
    const { id } = await product.call<{ id: string }>('POST', '/chains', link);
    await page.getByRole('button', { name: 'when night report completes, mail it runs' }).waitFor();
    await product.call('DELETE', `/chains/${id}`);
    await page.getByRole('heading', { name: 'No chains yet' }).waitFor();
  });

  test('shows a failure in the inbox, and the outcome of a test delivery', async () => {
    const failing = await product.script('fails', { 'main.py': 'raise SystemExit(3)\n' });
    await browsing.follow(`${product.baseUrl}/notifications`);
    await page.getByRole('heading', { name: 'No notifications yet' }).waitFor();
    await product.run(failing);
    const inbox = page.getByRole('list', { name: 'Inbox' });
    await inbox.getByText('The run failed with exit code 3.').waitFor();
    await page.getByRole('link', { name: 'Notifications 1 unread' }).waitFor();
    expect(await browsing.barriers()).toEqual([]);
    await page.getByRole('button', { name: 'Mark all as read' }).click();
    await page.getByRole('button', { name: 'Mark all as read' }).waitFor({ state: 'detached' });

    await page.getByRole('link', { name: 'Channels' }).click();
    await page.getByRole('button', { name: 'New channel' }).click();
    await page.getByLabel('Name', { exact: true }).fill('on call');
    await page.getByLabel('Type').selectOption('webhook');
    await page.getByLabel('URL').fill('http://127.0.0.1:9/hook');
    expect(await browsing.barriers()).toEqual([]);
    await page.getByRole('button', { name: 'Create channel' }).click();
    const secret = page.getByRole('dialog', { name: 'Secret of “on call”' });
    await secret.getByText(/^whsec_/).waitFor();
    await secret.getByRole('button', { name: 'Done' }).click();
    expect(await browsing.barriers()).toEqual([]);

    await page.getByRole('link', { name: 'Rules' }).click();
    await page.getByRole('button', { name: 'New rule' }).click();
    await page.getByLabel('Name').fill('failures');
    await page.getByRole('checkbox', { name: 'on call' }).check();
    expect(await browsing.barriers()).toEqual([]);
    await page.getByRole('button', { name: 'Create rule' }).click();
    await page
      .getByRole('row', { name: /failures/ })
      .getByText('on call')
      .waitFor();
    expect(await browsing.barriers()).toEqual([]);

    await page.getByRole('link', { name: 'Channels' }).click();
    await page.getByRole('button', { name: 'Actions for on call' }).click();
    await page.getByRole('menuitem', { name: 'Send test' }).click();
    const tried = page.getByRole('row', { name: /Test notification: this channel works/ });
    await tried.getByText('Failed', { exact: true }).waitFor();
    expect(await browsing.barriers()).toEqual([]);
    await tried.getByRole('button', { name: /^Resend/ }).click();
    await tried.nth(1).waitFor();
    await product.call('DELETE', `/scripts/${failing}`);
  });

  test('creates a group and an account, shows the account’s rights, and disables the account', async () => {
    await browsing.follow(`${product.baseUrl}/people`);
    await page.getByRole('button', { name: 'New group' }).click();
    await page.getByLabel('Name').fill('reports');
    await page.getByTitle('chart-line').click();
    await page.getByRole('button', { name: 'Create group' }).click();
    await page.getByRole('list', { name: 'Groups' }).getByText('reports').waitFor();
    await page.getByRole('button', { name: 'New account' }).click();
    await page.getByLabel('Email').fill('ada@example.com');
    await page.getByLabel('Password').fill('a good password');
    await page.getByLabel('Name').fill('Ada');
    await page.getByLabel('Role').selectOption('viewer');
    await page.getByText('not in any group').waitFor();
    await page.getByRole('checkbox', { name: 'reports' }).check();
    await page.getByText('Views scripts, runs and logs, but not code. Only in reports.').waitFor();
    expect(await browsing.barriers()).toEqual([]);
    await page.getByRole('button', { name: 'Create account' }).click();
    const ada = page.getByRole('row', { name: /ada@example.com/ });
    await ada.getByText('reports').waitFor();
    await ada.getByRole('button', { name: 'Actions for Ada' }).click();
    await page.getByRole('menuitem', { name: 'Disable' }).click();
    await page.getByRole('button', { name: 'Disable account' }).click();
    await ada.getByText('Disabled').waitFor();
    expect(await browsing.barriers()).toEqual([]);
  });

  test('pauses and resumes triggers, and changes the retention', async () => {
    await browsing.follow(`${product.baseUrl}/system`);
    await page.getByRole('button', { name: 'Pause all' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Pause all' }).click();
    await page.getByText(/^Triggers are paused/).waitFor();
    expect(await browsing.barriers()).toEqual([]);
    await product.call('POST', '/system/resume');
    await page.getByText(/^Triggers are paused/).waitFor({ state: 'detached' });
    await page.getByLabel('Logs').fill('90');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('button', { name: 'Change retention' }).click();
    await page.getByText(/^Changed .* by admin@example.com$/).waitFor();
    expect(await product.call('GET', '/system/retention')).toMatchObject({ logs_days: 90 });
  });

  test('exports, edits and imports a configuration, and shows the differences', async () => {
    await product.script('goes with it', { 'main.py': 'print("gone")\n' });
    await browsing.follow(`${product.baseUrl}/configuration`);
    const saving = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Export' }).click();
    const document = JSON.parse(await readFile(await (await saving).path(), 'utf8'));
    document.scripts = document.scripts
      .filter(({ name }: { name: string }) => name !== 'goes with it')
      .map((one: { id: string }) =>
        one.id === scriptId ? { ...one, name: 'day report', limit: 1 } : one,
      );
    const report = document.scripts.find(({ id }: { id: string }) => id === scriptId);
    const field = page.getByLabel('Document', { exact: true });
    await field.fill(JSON.stringify(document));
    await page.getByRole('button', { name: 'Preview changes' }).click();
    await page.getByText(/The field "scripts\/\d+\/limit" is unknown\./).waitFor();
    delete report.limit;
    document.webhooks = [{ id: randomUUID(), script_id: scriptId, name: 'push' }];
    await field.fill(JSON.stringify(document));
    await page.getByLabel('Delete items missing from the document').check();
    await page.getByRole('button', { name: 'Preview changes' }).click();
    const list = page.getByRole('list', { name: 'Differences' });
    await list.getByText('day report', { exact: true }).first().waitFor();
    expect(await browsing.barriers()).toEqual([]);
    await page.getByRole('button', { name: 'Import', exact: true }).click();
    const dialog = page.getByRole('dialog', { name: 'Import this configuration?' });
    await dialog.getByText('1 created, 1 changed and 1 deleted').waitFor();
    expect(await browsing.barriers()).toEqual([]);
    await dialog.getByRole('button', { name: 'Import' }).click();
    await page.getByText('Configuration imported.').waitFor();
    await page.getByRole('region', { name: 'URL of push' }).waitFor();
    expect(await browsing.barriers()).toEqual([]);
    delete document.webhooks;
    report.name = 'night report';
    await page.getByLabel('Delete items missing from the document').uncheck();
    await field.fill(JSON.stringify(document));
    await page.getByRole('button', { name: 'Preview changes' }).click();
    await page.getByRole('button', { name: 'Import', exact: true }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Import' }).click();
    await page.getByText('Configuration imported.').waitFor();
  });

  test('finds a newer release, refuses its tampered artifact, and records the refusal in the history', async () => {
    await browsing.follow(`${product.baseUrl}/updates`);
    await page.getByText('Not checked for updates yet.').waitFor();
    await page.getByRole('button', { name: 'Check for updates' }).click();
    await page.getByText('Version 999.0.0 is available.').waitFor();
    await page.getByText('Runs are painted in better colors.').waitFor();
    expect(await browsing.barriers()).toEqual([]);
    await page.getByRole('button', { name: 'Install 999.0.0' }).click();
    const dialog = page.getByRole('dialog', { name: 'Install 999.0.0?' });
    await dialog.getByText(/is restored automatically/).waitFor();
    expect(await browsing.barriers()).toEqual([]);
    await dialog.getByRole('button', { name: 'Install update' }).click();
    const row = page.getByRole('row', { name: /999\.0\.0/ });
    await row.getByText('Failed', { exact: true }).waitFor();
    await row.getByText(/does not match its signature/).waitFor();
    expect(await browsing.barriers()).toEqual([]);
  });

  test('filters the audit trail according to the URL, opens an entry, and verifies the trail', async () => {
    await browsing.follow(`${product.baseUrl}/audit`);
    await page.getByRole('combobox', { name: 'Action', exact: true }).fill('triggers p');
    await page.getByRole('option', { name: 'Triggers paused' }).click();
    await page.waitForURL('**/audit?action=triggers_paused');
    await page.getByRole('button', { name: 'Triggers paused' }).click();
    await page.getByRole('dialog').getByText('system-triggers').waitFor();
    expect(await browsing.barriers()).toEqual([]);
    await page.getByRole('button', { name: 'Close' }).first().click();
    await page.getByRole('button', { name: 'Verify' }).click();
    await page.getByText(/^Verified: all \d+ entries/).waitFor();
    const verified = page.getByRole('dialog');
    const head = await verified.locator('code').textContent();
    await verified.getByLabel('Saved checkpoint').fill('812:9f2c');
    await verified.getByText('Enter a checkpoint as JSON or NUMBER:HASH.').waitFor();
    const other = head?.replace(/(?<="hash":")./, (first) => (first === '0' ? '1' : '0'));
    await verified.getByLabel('Saved checkpoint').fill(other ?? '');
    await verified.getByRole('button', { name: 'Verify against checkpoint' }).click();
    await verified.getByText('the hash differs from the saved checkpoint').waitFor();
    await verified.getByLabel('Saved checkpoint').fill(head ?? '');
    await verified.getByRole('button', { name: 'Verify against checkpoint' }).click();
    await verified.getByText(/^Verified: all \d+ entries/).waitFor();
    expect(await browsing.barriers()).toEqual([]);
    await page.keyboard.press('Escape');
    for (const [button, name] of [
      ['Public key', 'audit.pem'],
      ['Signed checkpoints', 'heads.json'],
    ] as const) {
      const saving = page.waitForEvent('download');
      await page.getByRole('button', { name: 'Export', exact: true }).click();
      await page.getByRole('button', { name: button }).click();
      expect((await saving).suggestedFilename()).toBe(name);
    }
  });

  test('compares a point in time with the current state, steps through events, and keeps the time in the URL', async () => {
    const id = await product.script('second thoughts', { 'main.py': 'print("first")\n' });
    await product.call('PUT', `/scripts/${id}/files/main.py`, { content: 'print("later")\n' });
    const position = await until('the trail has both', async () => {
      const query = `resource=script-${id}&action=file_saved`;
      const { items } = await product.call<{ items: { event_position: number }[] }>(
        'GET',
        `/audit?${query}`,
      );
      return items.length === 2 ? items[1]?.event_position : undefined;
    });
    await browsing.follow(`${product.baseUrl}/replay?at=${position}&actor=admin%40example.com`);
    const then = page.getByRole('region', { name: 'Then and now' });
    const changed = then.getByRole('listitem').filter({ hasText: 'second thoughts' });
    await changed.getByText('Changed since').waitFor();
    await page.getByText('File saved').waitFor();
    expect(await browsing.barriers()).toEqual([]);
    await changed.getByRole('button', { name: 'Compare code' }).click();
    await page.getByRole('dialog').getByText('-print("first")').waitFor();
    await page.getByRole('dialog').getByText('+print("later")').waitFor();
    expect(await browsing.barriers()).toEqual([]);
    await page.keyboard.press('Escape');

    await page.getByRole('button', { name: 'Next event' }).click();
    await then.getByRole('listitem').filter({ hasText: 'second' }).waitFor({ state: 'detached' });
    expect(page.url()).toContain('actor=admin%40example.com');
    await page.getByRole('button', { name: 'Play' }).click();
    await page.getByText('You are viewing the present.').waitFor();
    await page.getByRole('slider', { name: 'Point in time' }).press('Home');
    await page.waitForURL(/at=\d{4}-/);
    await then.getByText('Created since').first().waitFor();
    await page.getByRole('button', { name: 'Zoom in' }).click();
    await page.waitForURL(/to=/);
    expect(await browsing.barriers()).toEqual([]);
    await page.getByRole('button', { name: 'Verify' }).click();
    await page.getByText(/^Verified: all \d+ entries/).waitFor();
  });

  test(
    'opens every page by keyboard, without accessibility violations',
    { timeout: 180_000 },
    async () => {
      await page.goto(`${product.baseUrl}/audit`);
      await page.getByRole('heading', { name: 'Audit' }).waitFor();
      for (const [key, title] of [
        ['d', 'Dashboard'],
        ['s', 'Scripts'],
        ['r', 'Runs'],
        ['u', 'Account'],
        ['o', 'Configuration'],
        ['v', 'Updates'],
        ['y', 'System'],
        ['m', 'MCP server'],
      ] as const) {
        await page.keyboard.press('g');
        await page.keyboard.press(key);
        await page.getByRole('heading', { level: 1, name: title, exact: true }).waitFor();
        expect(await browsing.barriers(), title).toEqual([]);
      }
      await page.getByRole('button', { name: 'New token' }).click();
      await page.getByRole('button', { name: 'Create token' }).click();
      await page
        .getByRole('region', { name: 'token', exact: true })
        .getByText(apiTokenForm)
        .waitFor();
      await page.getByText('Cursor').click();
      await page
        .getByRole('region', { name: 'configuration of Cursor' })
        .getByText('mcpServers')
        .waitFor();
      expect(await browsing.barriers()).toEqual([]);
      await page.keyboard.press('Control+k');
      await page.getByRole('combobox').fill('night');
      await page.getByRole('option', { name: /^night report [^:]/, selected: true }).waitFor();
      expect(await browsing.barriers()).toEqual([]);
      await page.keyboard.press('Enter');
      await page.waitForURL(`**/scripts/${scriptId}`);
      // In the editor, the key would type a letter instead of triggering the shortcut.
      await page.goto(`${product.baseUrl}/runs`);
      await page.getByRole('heading', { level: 1, name: 'Runs', exact: true }).waitFor();
      await page.keyboard.press('?');
      await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor();
      expect(await browsing.barriers()).toEqual([]);
      await page.getByLabel('Single-key shortcuts').uncheck();
      await page.keyboard.press('Escape');
      await page.keyboard.press('?');
      expect(await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).count()).toBe(0);
    },
  );
});
