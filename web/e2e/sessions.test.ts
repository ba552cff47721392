/** The dashboard's session in a real browser. The tests cover several tabs and attacks by other programs on the same
 *  host, which receive the session cookie. */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import WebSocket from 'ws';
import { startTestProvider, type TestProvider } from '../../infra/oidc/testing/provider.ts';
import { describeWith } from '../../scripts/testing/optional-service.ts';
import { chromiumService, type Browsing } from './testing/browsing.ts';
import { openDashboard } from './testing/dashboard.ts';
import { OtherPort } from './testing/other-port.ts';
import type { Product } from '../../services/minimal/testing/product.ts';

describeWith(chromiumService, 'the session in a browser', () => {
  let product: Product;
  let browsing: Browsing;
  let page: Page;
  openDashboard(async (opened) => {
    ({ product, browsing, page } = opened);
    await browsing.signIn(product.baseUrl);
  });

  /** Opens a second tab by following a link on the dashboard. */
  async function tab(url: string): Promise<Page> {
    const opened = page.context().waitForEvent('page');
    await page.evaluate(`void window.open(${JSON.stringify(url)}, '_blank', 'noopener')`);
    const other = await opened;
    await other.waitForURL(url);
    return other;
  }

  const isSignedIn = async (one: Page): Promise<void> =>
    await one.getByRole('navigation', { name: 'Main' }).waitFor();

  describe('a server on another port that receives the session cookie', () => {
    let other: OtherPort;
    let report: Page;
    beforeAll(async () => {
      other = await OtherPort.open();
      report = await tab(other.url);
    });
    afterAll(async () => {
      await report.close();
      await other.close();
    });

    /** Replays the cookie from the other server, with the headers that the dashboard would send.
     *  @returns the product's response */
    async function replayed(): Promise<{ status: number; text: string }> {
      const answer = await fetch(`${product.baseUrl}/api/v1/auth/refresh`, {
        method: 'POST',
        headers: { cookie: other.cookie, origin: product.baseUrl, 'sec-fetch-site': 'same-origin' },
      });
      return { status: answer.status, text: await answer.text() };
    }

    test('cannot read the change feed', async () => {
      expect(other.cookie).toMatch(/^orch_refresh=[\w.-]+$/);
      const socket = new WebSocket(`${product.baseUrl.replace('http', 'ws')}/ws`, ['orch.v1'], {
        headers: { cookie: other.cookie, origin: product.baseUrl },
      });
      const outcome = new Promise((resolve) => {
        socket.once('close', resolve);
        socket.once('message', () => resolve('let in'));
      });
      expect(await outcome).toBe(4401);
      socket.terminate();
    });

    test('cannot renew the session by replaying the cookie', async () => {
      const { status, text } = await replayed();
      expect(status).toBe(401);
      expect(text).not.toContain('access_token');
    });

    test('cannot make its page renew the session by a request with credentials', async () => {
      const address = JSON.stringify(`${product.baseUrl}/api/v1/auth/refresh`);
      const wanted = [{}, { mode: 'no-cors' }, { headers: { 'orch-session-key': 'x' } }];
      const asked = wanted.map((init) =>
        report.evaluate(`ask(${address}, ${JSON.stringify(init)})`),
      );
      expect(await Promise.all(asked)).toEqual(['TypeError', 'TypeError', 'TypeError']);
    });

    test.each(['refresh', 'login', 'logout'])(
      'cannot make its page post a form to /auth/%s',
      async (path) => {
        await report.goto(other.url);
        const action = `${product.baseUrl}/api/v1/auth/${path}`;
        const answered = report.waitForResponse(action);
        await report.evaluate(`post(${JSON.stringify(action)})`);
        const answer = await answered;
        expect(answer.ok()).toBe(false);
        expect(await answer.headerValue('set-cookie')).toBeNull();
        await report.waitForURL(action);
      },
    );

    test('cannot read the dashboard in a frame or a window', async () => {
      await report.goto(other.url);
      const address = JSON.stringify(product.baseUrl);
      expect(await report.evaluate(`frame(${address})`)).toBe('SecurityError');
      const opened = report.context().waitForEvent('page');
      await report.evaluate(`open(${address})`);
      const popup = await opened;
      await isSignedIn(popup);
      expect(await report.evaluate('read(opened)')).toBe('SecurityError');
      await popup.close();
    });

    test('cannot sign the user out', async () => {
      await page.reload();
      await isSignedIn(page);
    });
  });

  test('is shared by all tabs until the user signs out in one of them', async () => {
    const second = await tab(`${product.baseUrl}/`);
    await isSignedIn(second);
    for (const _round of [1, 2, 3]) {
      await Promise.all([page.reload(), second.reload()]);
      await Promise.all([isSignedIn(page), isSignedIn(second)]);
    }
    await browsing.signOut();
    await second.getByRole('button', { name: 'Sign in' }).waitFor();
    const key = () => second.evaluate(`localStorage.getItem('orch-session-key')`);
    expect(await key()).toBeNull();
    await second.reload();
    await second.getByRole('button', { name: 'Sign in' }).waitFor();
    await browsing.signIn(product.baseUrl);
    expect(await key()).toMatch(/^[\w-]{43}$/);
    await second.reload();
    await isSignedIn(second);
    await second.close();
  });

  test('requires the password again if the session key is missing or invalid', async () => {
    await page.evaluate(`localStorage.removeItem('orch-session-key')`);
    await page.reload();
    await page.getByRole('button', { name: 'Sign in' }).waitFor();
    await browsing.signIn(product.baseUrl);
    // This is also the state after an update from a release without session keys, or after the cookie was replaced.
    await page.evaluate(`localStorage.setItem('orch-session-key', 'A'.repeat(43))`);
    await page.reload();
    await page.getByRole('button', { name: 'Sign in' }).waitFor();
    await browsing.signIn(product.baseUrl);
  });

  describe('at an identity provider', () => {
    let provider: TestProvider;
    beforeAll(async () => {
      provider = await startTestProvider([`${product.baseUrl}/api/v1/auth/oidc/acme/callback`]);
      const claims = { email: 'olga@acme.example', email_verified: true, groups: ['ops'] };
      provider.accounts.set('olga', claims);
    });
    afterAll(() => provider.close());

    test('can be opened once the provider has been added on the dashboard', async () => {
      await page.goto(`${product.baseUrl}/people`);
      await page.getByRole('button', { name: 'New provider' }).click();
      const form = page.getByRole('form', { name: 'Identity provider' });
      await form.getByLabel('Name').fill('Acme');
      await form.getByLabel('Slug').fill('acme');
      await form.getByLabel('Issuer').fill(provider.issuer);
      await form.getByLabel('Client ID').fill(provider.clientId);
      await form.getByLabel('Client secret').fill(provider.clientSecret);
      await form.getByRole('button', { name: 'Add rule' }).click();
      const rule = form.getByRole('group', { name: 'Rule 1' });
      await rule.getByLabel('Value').fill('ops');
      await rule.getByLabel('Role').selectOption('operator');
      await form.getByRole('button', { name: 'Create provider' }).click();
      await page.getByRole('switch', { name: 'Enable Acme' }).waitFor();

      await browsing.signOut();
      await page.goto(`${product.baseUrl}/login?next=/runs`);
      await page.getByRole('link', { name: 'Sign in with Acme' }).click();
      await page.getByLabel('Account').fill('olga');
      await page.getByRole('button', { name: 'Continue' }).click();
      await page.waitForURL(`${product.baseUrl}/runs`);
      await isSignedIn(page);
      await page.getByRole('button', { name: 'Account: olga' }).waitFor();
      await page.reload();
      await isSignedIn(page);
    });

    test('ends when the provider ends its own session', async () => {
      const token = await provider.logoutToken({ sub: 'olga' });
      const answer = await product.fetch('POST', '/auth/oidc/acme/backchannel-logout', {
        logout_token: token,
      });
      expect(answer.status).toBe(200);
      await page.goto(`${product.baseUrl}/runs`);
      await page.getByRole('link', { name: 'Sign in with Acme' }).waitFor();
    });

    test('ends with a link to the provider’s sign-out page, which is offered once', async () => {
      const link = page.getByRole('link', { name: 'Sign out there' });
      await link.waitFor();
      expect(await browsing.barriers()).toEqual([]);
      await link.click();
      await page.waitForURL(`${provider.issuer}/**`);
      await page
        .getByText(/sign-out/i)
        .first()
        .waitFor();
      await page.goto(`${product.baseUrl}/login`);
      await page.getByRole('link', { name: 'Sign in with Acme' }).waitFor();
      expect(await link.count()).toBe(0);
    });

    test('is refused with a reason if the user has no role', async () => {
      provider.accounts.set('noah', { email: 'noah@acme.example', email_verified: true });
      await page.context().clearCookies({ name: '_session' });
      await page.getByRole('link', { name: 'Sign in with Acme' }).click();
      await page.getByLabel('Account').fill('noah');
      await page.getByRole('button', { name: 'Continue' }).click();
      await page.getByRole('alert').getByText('has no role here').waitFor();
    });
  });
});
