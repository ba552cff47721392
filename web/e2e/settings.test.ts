/** Script settings, preferences and the account, tested in a real browser against the real product. */
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { describeWith } from '../../scripts/testing/optional-service.ts';
import { chromiumService, type Browsing } from './testing/browsing.ts';
import { openDashboard } from './testing/dashboard.ts';
import type { Product } from '../../services/minimal/testing/product.ts';

describeWith(chromiumService, 'the dashboard for settings and accounts', () => {
  let product: Product;
  let browsing: Browsing;
  let page: Page;
  let scriptId: string;
  openDashboard(async (opened) => {
    ({ product, browsing, page } = opened);
    scriptId = await product.script('weather', { 'main.py': 'print("sun")\n', 'start.py': '\n' });
    await browsing.signIn(product.baseUrl);
  });

  test('shows the events of a calendar before the calendar is created', async () => {
    await page.goto(`${product.baseUrl}/schedules/calendars`);
    await page.getByRole('button', { name: 'New calendar' }).click();
    const dialog = page.getByRole('dialog', { name: 'New calendar' });
    const year = new Date().getUTCFullYear() + 1;
    const text = [
      'BEGIN:VCALENDAR',
      'VERSION:2.0',
      'BEGIN:VEVENT',
      'UID:1',
      `DTSTART;VALUE=DATE:${year}0101`,
    ];
    await dialog
      .getByLabel('iCalendar text')
      .fill([...text, 'SUMMARY:New Year', 'END:VEVENT', 'END:VCALENDAR', ''].join('\n'));
    await dialog.getByRole('button', { name: 'Show events' }).click();
    await dialog.getByRole('region', { name: 'Events' }).getByText(`${year}-01-01`).waitFor();
    await dialog.getByLabel('iCalendar text').fill('holidays');
    expect(await dialog.getByRole('region', { name: 'Events' }).count()).toBe(0);
    await dialog.getByRole('button', { name: 'Show events' }).click();
    await dialog.getByText('The calendar is not valid iCalendar text').first().waitFor();
    expect(await browsing.barriers()).toEqual([]);
    await dialog.getByRole('button', { name: 'Cancel' }).click();
  });

  test('changes every setting of a script, and does not send invalid values', async () => {
    await browsing.follow(`${product.baseUrl}/scripts/${scriptId}/settings`);
    const form = page.getByRole('form', { name: 'Settings' });
    await form.getByLabel('Environment variables').fill('no variable');
    await form.getByText('Invalid line “no variable”. Use NAME=value.').waitFor();
    expect(await form.getByRole('button', { name: 'Save settings' }).isDisabled()).toBe(true);
    await form.getByLabel('Environment variables').fill('TZ=Europe/Berlin\nCITY=Bern');
    await form.getByLabel('Entry point').fill('start.py');
    await form.getByLabel('Tags').fill('daily, weather');
    await form.getByLabel('Storage').fill('20');
    await form.getByLabel('Start mode', { exact: true }).selectOption('cold');
    await form.getByLabel('Listen ports').fill('8000, 0');
    await form.getByLabel('Stored log').fill('');
    await form.getByLabel('Processes').fill('8');
    await form.getByLabel('Max attempts').fill('3');
    await form.getByLabel('Parameter schema').fill('{"type": "object"}');
    expect(await browsing.barriers()).toEqual([]);
    await form.getByRole('button', { name: 'Save settings' }).click();
    await page.getByText('Settings saved').waitFor();
    expect(await product.call('GET', `/scripts/${scriptId}`)).toMatchObject({
      entrypoint: 'start.py',
      tags: ['daily', 'weather'],
      storage_quota_bytes: 20 * 2 ** 20,
      start_mode: 'cold',
      listen_ports: [8000, 0],
      environment: { TZ: 'Europe/Berlin', CITY: 'Bern' },
      limits: { log_bytes: null, processes: 8, open_files: 256 },
      retry: { max_attempts: 3, backoff_seconds: 10 },
      parameters_schema: { type: 'object' },
    });
    await form.getByLabel('Environment variables').fill('TZ=UTC');
    await form.getByLabel('Python').fill('3.99');
    await form.getByRole('button', { name: 'Save settings' }).click();
    await expect
      .poll(() => product.call('GET', `/scripts/${scriptId}`))
      .toMatchObject({ environment: { TZ: 'UTC' }, python: '3.99' });
  });

  test('creates a script from a template or an archive, and copies, deletes and restores scripts', async () => {
    const title = (name: string) => page.getByRole('heading', { level: 1, name, exact: true });
    const dialog = page.getByRole('dialog');
    await page.goto(`${product.baseUrl}/scripts`);
    await page.getByRole('button', { name: 'New script' }).first().click();
    await dialog.getByLabel('Name').fill('watch');
    await dialog.getByLabel('Start from').selectOption('Template: HTTP monitor');
    expect(await browsing.barriers()).toEqual([]);
    await dialog.getByRole('button', { name: 'Create script' }).click();
    await title('watch').waitFor();

    await browsing.follow(`${product.baseUrl}/scripts/${scriptId}/settings`);
    const saving = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Download files' }).click();
    const archive = await (await saving).path();
    await page.getByRole('button', { name: 'Copy script' }).click();
    await dialog.getByRole('button', { name: 'Copy script' }).click();
    await title('weather (copy)').waitFor();

    await page.goto(`${product.baseUrl}/scripts`);
    await page.getByRole('button', { name: 'New script' }).first().click();
    await dialog.getByLabel('Name').fill('unpacked');
    await dialog.getByLabel('Start from').selectOption('A zip archive');
    await dialog.getByLabel('Archive').setInputFiles(archive);
    await dialog.getByRole('button', { name: 'Create script' }).click();
    await title('unpacked').waitFor();
    const id = new URL(page.url()).pathname.split('/')[2] ?? '';
    const { items } = await product.call<{ items: { path: string }[] }>(
      'GET',
      `/scripts/${id}/files`,
    );
    expect(items.map(({ path }) => path).toSorted()).toEqual(['main.py', 'start.py']);

    await browsing.follow(`${product.baseUrl}/scripts/${id}/settings`);
    await page.getByRole('button', { name: 'Delete script' }).click();
    await dialog.getByLabel('Type the script name').fill('unpacked');
    await dialog.getByRole('button', { name: 'Delete script' }).click();
    await page.getByRole('button', { name: 'Undo' }).click();
    await title('unpacked').waitFor();
    await product.call('DELETE', `/scripts/${id}`);
    await browsing.follow(`${product.baseUrl}/scripts/${id}`);
    await title('This script was deleted').waitFor();
    expect(await browsing.barriers()).toEqual([]);
    await page.getByRole('button', { name: 'Restore' }).click();
    await title('unpacked').waitFor();
    await product.call('DELETE', `/scripts/${id}`);
    await page.goto(`${product.baseUrl}/scripts/${id}`);
    await page.getByRole('button', { name: 'Delete permanently' }).click();
    await dialog.getByRole('button', { name: 'Delete permanently' }).click();
    await page.getByText('were permanently deleted').waitFor();
    expect(await page.getByRole('button', { name: 'Restore' }).count()).toBe(0);
  });

  test('keeps the display preferences after a reload', async () => {
    await page.getByRole('button', { name: 'Account:' }).click();
    await page.getByRole('menuitem', { name: 'Preferences' }).click();
    await page.getByRole('heading', { level: 1, name: 'Preferences' }).waitFor();
    await page.getByLabel('Time zone').fill('Mars/Base');
    await page.getByText('Unknown time zone.').waitFor();
    await page.getByLabel('Time zone').fill('Asia/Tokyo');
    await page.getByText('12-hour').click();
    await page.getByText('Compact', { exact: true }).click();
    await page.getByText(/^Current time: .* [ap]m\.$/i).waitFor();
    expect(await browsing.barriers()).toEqual([]);
    await browsing.follow(`${product.baseUrl}/audit`);
    await page.getByRole('table', { name: 'Audit trail' }).getByRole('button').first().click();
    const when = page.getByRole('dialog').locator('time').first();
    const instant = Date.parse((await when.getAttribute('datetime')) ?? '');
    const hour = new Date(instant + 9 * 3_600_000).getUTCHours() % 12 || 12;
    expect(await when.textContent()).toMatch(new RegExp(`, 0?${hour}:.* [ap]m`, 'i'));
    expect(await browsing.barriers()).toEqual([]);
    await browsing.follow(`${product.baseUrl}/preferences`);
    await page.getByText('Comfortable').click();
    await page.getByText('24-hour').click();
    await page.getByLabel('Time zone').fill('');
  });

  test('lists the service settings without secrets, and shows defaults on request', async () => {
    await browsing.follow(`${product.baseUrl}/system`);
    const settings = page.getByRole('table', { name: 'Settings' });
    await settings.getByRole('row', { name: 'ORCH_EXAMPLES false environment' }).waitFor();
    await settings.getByRole('row', { name: 'SECRET_MASTER_KEY set (hidden) file' }).waitFor();
    expect(await settings.getByText('default', { exact: true }).count()).toBe(0);
    await page.getByLabel('Show defaults').check();
    await settings.getByRole('row', { name: 'ORCH_BIND 127.0.0.1 default' }).waitFor();
    expect(await browsing.barriers()).toEqual([]);
  });

  test('changes the password, and ends all other sessions of the user', async () => {
    await product.signIn();
    await browsing.follow(`${product.baseUrl}/account`);
    const form = page.getByRole('form', { name: 'Password' });
    await form.getByLabel('New password').waitFor();
    const tops = await form
      .getByRole('textbox')
      .evaluateAll((fields) => fields.map((field) => field.getBoundingClientRect().top));
    expect(new Set(tops).size).toBe(1);
    await page.getByRole('button', { name: 'End all other sessions' }).click();
    await page.getByRole('button', { name: /^End \d+ sessions?$/ }).click();
    await page.getByText('Other sessions ended').waitFor();
    expect((await product.fetch('GET', '/auth/me')).status).toBe(401);
    expect(await browsing.barriers()).toEqual([]);
    await form.getByLabel('Current password').fill('not the password');
    await form.getByLabel('New password').fill('a longer password');
    await form.getByRole('button', { name: 'Change password' }).click();
    await form.getByText('Incorrect password.').waitFor();
    await product.signIn();
  });

  test('ends all sessions of another user, who can then sign in again', async () => {
    const credentials = { email: 'ada@example.com', password: 'a good password' };
    await product.call('POST', '/users', { ...credentials, name: 'Ada', role: 'developer' });
    const signIn = () => product.call<{ access_token: string }>('POST', '/auth/login', credentials);
    const tokens = [(await signIn()).access_token, (await signIn()).access_token];
    const stillIn = async () => {
      const asked = tokens.map(async (token) => {
        const headers = { authorization: `Bearer ${token}` };
        return (await fetch(`${product.baseUrl}/api/v1/auth/me`, { headers })).status;
      });
      return await Promise.all(asked);
    };
    expect(await stillIn()).toEqual([200, 200]);
    await browsing.follow(`${product.baseUrl}/people`);
    await page
      .getByRole('row', { name: /ada@example.com/ })
      .getByRole('button')
      .click();
    await page.getByRole('menuitem', { name: 'Sessions and tokens' }).click();
    const dialog = page.getByRole('dialog', { name: 'Sessions and tokens of Ada' });
    await dialog.getByRole('button', { name: 'End all sessions' }).waitFor();
    expect(await browsing.barriers()).toEqual([]);
    await dialog.getByRole('button', { name: 'End all sessions' }).click();
    await dialog.getByText('None').nth(1).waitFor();
    expect(await stillIn()).toEqual([401, 401]);
    tokens.push((await signIn()).access_token);
    expect(await stillIn()).toEqual([401, 401, 200]);
  });
});
