/** Every screen of the dashboard for each role, tested in a real browser against the real product. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { describeWith } from '../../scripts/testing/optional-service.ts';
import { chromiumService, type Browsing } from './testing/browsing.ts';
import { openDashboard } from './testing/dashboard.ts';
import { productPassword, type Product } from '../../services/minimal/testing/product.ts';
import { screensOf, visitors, type Screen, type Visitor } from './testing/screens.ts';
import { seed } from './testing/seed.ts';

/** The visitors, beginning with the one with the fewest rights. */
const byRights: readonly Visitor[] = [
  'viewer',
  'auditor',
  'operator',
  'developer',
  'administrator',
];

/** Whether the visitor's view of the screen needs a check. An auditor is also a viewer, so the viewer's screens are
 *  already checked. */
const isNewTo = (visitor: Visitor, { of }: Screen): boolean =>
  visitor !== 'auditor' || !of.includes('viewer');

describeWith(chromiumService, 'the role-specific dashboard', () => {
  let product: Product;
  let browser: Browsing;
  let screens: readonly Screen[];
  /** The ID of a script in a group to which only the administrator has access. */
  let elsewhereId: string;
  openDashboard(async (opened) => {
    ({ product, browsing: browser } = opened);
    screens = screensOf(await seed(product));
    const { items } = await product.call<{ items: { id: string; name: string }[] }>(
      'GET',
      '/groups',
    );
    const groupId = (wanted: string) => items.find(({ name }) => name === wanted)?.id;
    const elsewhere = { name: 'elsewhere', group_id: groupId('bots') };
    elsewhereId = (await product.call<{ id: string }>('POST', '/scripts', elsewhere)).id;
    for (const visitor of visitors.filter((one) => one !== 'administrator')) {
      await product.call('POST', '/users', {
        name: visitor,
        email: emailOf(visitor),
        password: productPassword,
        role: visitor === 'auditor' ? 'viewer' : visitor,
        can_audit: visitor === 'auditor',
        group_ids: [groupId('custom')],
      });
    }
  });

  describe.each(visitors)('for a signed-in %s', (visitor) => {
    let browsing: Browsing;
    beforeAll(async () => {
      browsing = await browser.another();
      await browsing.signIn(`${product.baseUrl}/preferences`, emailOf(visitor));
    });
    afterAll(() => browsing.page.close());

    const isOpen = ({ of }: Pick<Screen, 'of'>): boolean => of.includes(visitor);
    const isNews = (screen: Screen): boolean => isNewTo(visitor, screen);

    /** Whether this visitor is the one with the fewest rights who may perform the action. A check for each role would
     *  take twice as long. `permission-matrix.test.ts` checks the API for each role. */
    const isPerformer = (screen: Screen, { of }: Pick<Screen, 'of'>): boolean =>
      byRights.find((one) => of.includes(one) && isNewTo(one, screen)) === visitor;

    /** The viewer, who has the fewest rights, opens each screen by its URL. The other visitors follow links, which
     *  takes a third of the time. */
    async function open({ path, sign }: Screen): Promise<void> {
      const { page } = browsing;
      const url = product.baseUrl + path;
      await (visitor === 'viewer' || page.url() === url ? page.goto(url) : browsing.follow(url));
      await sign(page).waitFor();
      await browsing.untilQuiet();
    }

    test('shows the permitted screens, and offers and performs only the permitted actions', async () => {
      const { page } = browsing;
      for (const screen of screens.filter((one) => isOpen(one) && isNews(one))) {
        await open(screen);
        // Another test checks the accessibility of the administrator's screens in both themes.
        if (visitor === 'viewer' || visitor === 'auditor') {
          expect(await browsing.barriersInLight(), screen.path).toEqual([]);
        }
        for (const { of, control } of screen.actions) {
          const found = control(page);
          const isOffered = async () => (await found.count()) > 0;
          const message = `${found.toString()} at ${screen.path}`;
          await expect.poll(isOffered, { message }).toBe(isOpen({ of }));
        }
        for (const { control, work } of screen.actions.filter((one) => isPerformer(screen, one))) {
          if (page.url() !== product.baseUrl + screen.path) await open(screen);
          const dialog = page.getByRole('dialog');
          if ((await dialog.count()) > 0) {
            await page.keyboard.press('Escape');
            await dialog.waitFor({ state: 'detached' });
          }
          await work(page, control(page), { visitor, product });
        }
        expect(browsing.complaints, screen.path).toEqual([]);
      }
    }, 300_000);

    test('shows an explanation at the URL of a forbidden screen', async () => {
      const { page } = browsing;
      for (const { path, instead } of screens.filter((one) => !isOpen(one) && isNews(one))) {
        // A viewer may open the fewest screens, and opens the forbidden ones by their URL.
        if (visitor === 'viewer') await page.goto(product.baseUrl + path);
        else await browsing.follow(product.baseUrl + path, product.baseUrl + (instead ?? path));
        if (instead === undefined) {
          await page.getByText('Your role does not allow this.').waitFor();
          expect(page.url()).toBe(product.baseUrl + path);
        } else await page.waitForURL(product.baseUrl + instead);
      }
      if (visitor !== 'administrator') {
        await page.goto(`${product.baseUrl}/scripts/${elsewhereId}`);
        await page.getByRole('heading', { name: 'Page not found' }).waitFor();
      }
      expect(await browsing.barriersInLight()).toEqual([]);
      expect(browsing.complaints).toEqual([]);
    }, 120_000);

    test('has a menu that contains only permitted screens', async () => {
      const menu = browsing.page.getByRole('navigation', { name: 'Main' }).getByRole('link');
      const paths = await menu.evaluateAll((links) =>
        links.map((link) => link.getAttribute('href')),
      );
      const shut = screens.filter((screen) => !isOpen(screen)).map(({ path }) => path);
      expect(paths.length).toBeGreaterThan(5);
      expect(paths.filter((path) => shut.includes(path ?? ''))).toEqual([]);
    });
  });
});

function emailOf(visitor: Visitor): string {
  return visitor === 'administrator' ? 'admin@example.com' : `${visitor}@example.com`;
}
