/** Account passkeys, tested with Chromium's virtual authenticator. */
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { describeWith } from '../../scripts/testing/optional-service.ts';
import { productPassword, type Product } from '../../services/minimal/testing/product.ts';
import { chromiumService, type Browsing } from './testing/browsing.ts';
import { openDashboard } from './testing/dashboard.ts';

describeWith(chromiumService, 'a passkey', () => {
  const email = 'ada@example.com';
  let product: Product;
  let browsing: Browsing;
  let page: Page;
  let url = '';
  openDashboard(async (opened) => {
    ({ product, browsing, page } = opened);
    // Browsers reject passkeys on pages whose host is an IP address.
    url = product.baseUrl.replace('127.0.0.1', 'localhost');
    await product.signIn();
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
