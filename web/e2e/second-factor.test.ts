/** An account's second factor, from its setup to a sign-in with a recovery code, and passkeys, which are tested with
 *  Chromium's virtual authenticator. */
import { TOTP } from 'otpauth';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { describeWith } from '../../scripts/testing/optional-service.ts';
import { productPassword, type Product } from '../../services/minimal/testing/product.ts';
import { chromiumService, type Browsing } from './testing/browsing.ts';
import { openDashboard } from './testing/dashboard.ts';

describeWith(chromiumService, 'the second factor of an account', () => {
  const email = 'ada@example.com';
  let product: Product;
  let browsing: Browsing;
  let page: Page;
  let recoveryCodes: readonly string[] = [];
  openDashboard(
    async (opened) => {
      ({ product, browsing, page } = opened);
      await product.call('POST', '/users', { email, password: productPassword, role: 'developer' });
      await browsing.signIn(product.baseUrl, email);
    },
    () => ({ variables: { ORCH_SECOND_FACTOR_ROLES: 'operator' } }),
  );

  test('is enabled with a code from a new key, which shows the recovery codes once', async () => {
    await page.goto(`${product.baseUrl}/account`);
    await page.getByRole('button', { name: 'Enable second factor' }).click();
    const dialog = page.getByRole('dialog', { name: 'Enable the second factor' });
    await dialog.getByRole('img', { name: 'QR code for the key' }).waitFor();
    const key = await dialog.getByRole('region', { name: 'key' }).innerText();
    expect(await browsing.barriers()).toEqual([]);
    await dialog.getByLabel('Password').fill(productPassword);
    await dialog.getByLabel('Code', { exact: true }).fill('000000');
    await dialog.getByRole('button', { name: 'Enable second factor' }).click();
    await dialog.getByText('The code is incorrect or was already used.').waitFor();
    await dialog.getByLabel('Code', { exact: true }).fill(new TOTP({ secret: key }).generate());
    await dialog.getByRole('button', { name: 'Enable second factor' }).click();
    const shown = page.getByRole('region', { name: 'recovery codes' });
    recoveryCodes = (await shown.innerText()).split('\n');
    expect(new Set(recoveryCodes).size).toBe(10);
    await page.getByRole('button', { name: 'Done' }).click();
    await page.getByText('Enabled. 10 unused recovery codes remain.').waitFor();
  });

  test('is required after the password, and can be replaced by a recovery code', async () => {
    await page.getByRole('button', { name: 'Account:' }).click();
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
    await page.getByLabel('Email').fill(email);
    await page.getByLabel('Password').fill(productPassword);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByLabel('Code').fill('000000');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('alert').getByText('The code is incorrect').waitFor();
    expect(await browsing.barriers()).toEqual([]);
    await page.getByLabel('Code').fill(recoveryCodes[0] ?? '');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('navigation', { name: 'Main' }).waitFor();
    await page.goto(`${product.baseUrl}/account`);
    await page.getByText('Enabled. 9 unused recovery codes remain.').waitFor();
  });

  test('can be reset by an administrator', async () => {
    await page.getByRole('button', { name: 'Account:' }).click();
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
    await browsing.signIn(product.baseUrl);
    await page.goto(`${product.baseUrl}/people`);
    const row = page.getByRole('row', { name: new RegExp(email) });
    await row.getByText('Second factor').waitFor();
    await row.getByRole('button', { name: /^Actions for/ }).click();
    await page.getByRole('menuitem', { name: 'Reset second factor' }).click();
    await page.getByRole('button', { name: 'Reset second factor' }).click();
    await row.getByText('Second factor').waitFor({ state: 'detached' });
  });
});

describeWith(chromiumService, 'a second factor that the role requires', () => {
  const email = 'grace@example.com';
  let product: Product;
  let browsing: Browsing;
  let page: Page;
  openDashboard(async (opened) => {
    ({ product, browsing, page } = opened);
    await product.call('POST', '/users', { email, password: productPassword, role: 'operator' });
  });

  test('must be enabled at sign-in before the dashboard opens', async () => {
    await page.goto(product.baseUrl);
    await page.getByLabel('Email').fill(email);
    await page.getByLabel('Password').fill(productPassword);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { name: 'Enable a second factor to continue' }).waitFor();
    expect(await page.getByRole('navigation', { name: 'Main' }).count()).toBe(0);
    await page.getByRole('button', { name: 'Add passkey' }).waitFor();
    expect(await browsing.barriers()).toEqual([]);
    await page.getByRole('button', { name: 'Use an authenticator app' }).click();
    const dialog = page.getByRole('dialog', { name: 'Enable the second factor' });
    const key = await dialog.getByRole('region', { name: 'key' }).innerText();
    await dialog.getByLabel('Password').fill(productPassword);
    await dialog.getByLabel('Code', { exact: true }).fill(new TOTP({ secret: key }).generate());
    await dialog.getByRole('button', { name: 'Enable second factor' }).click();
    await page.getByRole('region', { name: 'recovery codes' }).waitFor();
    await page.getByRole('button', { name: 'Done' }).click();
    await page.getByRole('navigation', { name: 'Main' }).waitFor();
  });
});

describeWith(chromiumService, 'a passkey', () => {
  const email = 'pat@example.com';
  let product: Product;
  let browsing: Browsing;
  let page: Page;
  let url = '';
  openDashboard(async (opened) => {
    ({ product, browsing, page } = opened);
    // Browsers reject passkeys on pages whose host is an IP address.
    url = product.baseUrl.replace('127.0.0.1', 'localhost');
    await product.call('POST', '/users', { email, password: productPassword, role: 'developer' });
    const devTools = await page.context().newCDPSession(page);
    await devTools.send('WebAuthn.enable');
    await devTools.send('WebAuthn.addVirtualAuthenticator', {
      options: {
        protocol: 'ctap2',
        transport: 'internal',
        hasResidentKey: true,
        hasUserVerification: true,
        isUserVerified: true,
        automaticPresenceSimulation: true,
      },
    });
    await browsing.signIn(url, email);
  });

  async function signOut(): Promise<void> {
    await page.getByRole('button', { name: 'Account:' }).click();
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
    await page.getByLabel('Email').waitFor();
  }

  async function enterPassword(): Promise<void> {
    await page.getByLabel('Email').fill(email);
    await page.getByLabel('Password').fill(productPassword);
    await page.getByRole('button', { name: 'Sign in' }).click();
  }

  test('can be added on the account page, which then shows the recovery codes', async () => {
    await page.goto(`${url}/account`);
    await page.getByRole('button', { name: 'Add passkey' }).click();
    const dialog = page.getByRole('dialog', { name: 'Add a passkey' });
    await dialog.getByLabel('Name').fill('Laptop');
    await dialog.getByLabel('Password').fill(productPassword);
    expect(await browsing.barriers()).toEqual([]);
    await dialog.getByRole('button', { name: 'Add passkey' }).click();
    const shown = page.getByRole('region', { name: 'recovery codes' });
    expect((await shown.innerText()).split('\n')).toHaveLength(10);
    await page.getByRole('button', { name: 'Done' }).click();
    await page.getByRole('list', { name: 'Passkeys' }).getByText('never used').waitFor();
  });

  test('confirms a sign-in after the password', async () => {
    await signOut();
    await enterPassword();
    await page.getByRole('button', { name: 'Use a passkey' }).waitFor();
    expect(await browsing.barriers()).toEqual([]);
    await page.getByRole('button', { name: 'Use a passkey' }).click();
    await page.getByRole('navigation', { name: 'Main' }).waitFor();
    await page.goto(`${url}/account`);
    await page.getByRole('list', { name: 'Passkeys' }).getByText('last used').waitFor();
    expect(await browsing.barriers()).toEqual([]);
  });

  test('can be renamed', async () => {
    await page.getByRole('button', { name: 'Rename passkey Laptop' }).click();
    const dialog = page.getByRole('dialog', { name: 'Rename “Laptop”' });
    await dialog.getByLabel('Name').fill('Phone');
    expect(await browsing.barriers()).toEqual([]);
    await dialog.getByRole('button', { name: 'Rename passkey' }).click();
    await page.getByRole('button', { name: 'Remove passkey Phone' }).waitFor();
  });

  test('confirms its own removal, after which the password alone is sufficient', async () => {
    await page.getByRole('button', { name: 'Remove passkey Phone' }).click();
    const dialog = page.getByRole('dialog', { name: 'Remove “Phone”?' });
    await dialog.getByLabel('Password').fill(productPassword);
    await dialog.getByRole('button', { name: 'Use a passkey' }).click();
    await page.getByRole('button', { name: 'Enable second factor' }).waitFor();
    expect(await page.getByRole('list', { name: 'Passkeys' }).count()).toBe(0);
    await signOut();
    await enterPassword();
    await page.getByRole('navigation', { name: 'Main' }).waitFor();
  });
});
