/** The dashboard's session in a real browser: what other programs on the host can do with its cookie, and several
 *  tabs. */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import WebSocket from 'ws';
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

  /** Another tab, opened as a link on the dashboard opens it. */
  async function tab(url: string): Promise<Page> {
    const opened = page.context().waitForEvent('page');
    await page.evaluate(`void window.open(${JSON.stringify(url)}, '_blank', 'noopener')`);
    const other = await opened;
    await other.waitForURL(url);
    return other;
  }

  const isSignedIn = async (one: Page): Promise<void> =>
    await one.getByRole('navigation', { name: 'Main' }).waitFor();

  describe('a server on another port of the host that is sent the cookie', () => {
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

    /** The product's response to the other server, which sends any headers it likes. */
    async function replayed(): Promise<{ status: number; text: string }> {
      const answer = await fetch(`${product.baseUrl}/api/v1/auth/refresh`, {
        method: 'POST',
        headers: { cookie: other.cookie, origin: product.baseUrl, 'sec-fetch-site': 'same-origin' },
      });
      return { status: answer.status, text: await answer.text() };
    }

    test('cannot follow what happens', async () => {
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

    test('cannot renew the session by sending the cookie itself', async () => {
      const { status, text } = await replayed();
      expect(status).toBe(401);
      expect(text).not.toContain('access_token');
    });

    test('cannot renew it from its page by a request with credentials', async () => {
      const address = JSON.stringify(`${product.baseUrl}/api/v1/auth/refresh`);
      const wanted = [{}, { mode: 'no-cors' }, { headers: { 'orch-session-key': 'x' } }];
      const asked = wanted.map((init) =>
        report.evaluate(`ask(${address}, ${JSON.stringify(init)})`),
      );
      expect(await Promise.all(asked)).toEqual(['TypeError', 'TypeError', 'TypeError']);
    });

    test.each(['refresh', 'login', 'logout'])('cannot post a form to /auth/%s', async (path) => {
      await report.goto(other.url);
      const action = `${product.baseUrl}/api/v1/auth/${path}`;
      const answered = report.waitForResponse(action);
      await report.evaluate(`post(${JSON.stringify(action)})`);
      const answer = await answered;
      expect(answer.ok()).toBe(false);
      expect(await answer.headerValue('set-cookie')).toBeNull();
      await report.waitForURL(action);
    });

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

    test('signs no user out by these attempts', async () => {
      await page.reload();
      await isSignedIn(page);
    });
  });

  test('shares one session between tabs until one signs out', async () => {
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

  test('asks for the password when the session key is missing', async () => {
    await page.evaluate(`localStorage.removeItem('orch-session-key')`);
    await page.reload();
    await page.getByRole('button', { name: 'Sign in' }).waitFor();
    await browsing.signIn(product.baseUrl);
    // As after an update, or after the cookie was replaced.
    await page.evaluate(`localStorage.setItem('orch-session-key', 'A'.repeat(43))`);
    await page.reload();
    await page.getByRole('button', { name: 'Sign in' }).waitFor();
    await browsing.signIn(product.baseUrl);
  });
});
