// Long because it contains one table of all screens.
/** The screens of the dashboard with their URLs, permitted roles and main actions. Each action lists the roles that may
 *  perform it. */
import { apiTokenForm } from '../../../services/shared/api-tokens.ts';
import type { Locator, Page } from 'playwright-core';
import type { Product } from '../../../services/minimal/testing/product.ts';
import type { Seeded } from './seed.ts';

/** One user for each role. The auditor is a viewer with access to the audit trail. */
export const visitors = ['administrator', 'developer', 'operator', 'viewer', 'auditor'] as const;
export type Visitor = (typeof visitors)[number];

/** The visitor who performs an action, and a product client with administrator rights. */
interface By {
  readonly visitor: Visitor;
  readonly product: Product;
}

interface ScreenAction {
  /** The roles that may perform the action. For other roles, the control is missing. */
  readonly of: readonly Visitor[];
  readonly control: (page: Page) => Locator;
  /** Performs the action through its control and waits until the action is complete. */
  readonly work: (page: Page, control: Locator, by: By) => Promise<void>;
}

export interface Screen {
  readonly path: string;
  /** The roles that may open the screen. Other roles see an explanation. */
  readonly of: readonly Visitor[];
  /** The path to which other roles are redirected. */
  readonly instead?: string;
  /** An element that appears only when the screen is complete. */
  readonly sign: (page: Page) => Locator;
  readonly actions: readonly ScreenAction[];
}

const everyone = visitors;
const workers: readonly Visitor[] = ['administrator', 'developer', 'operator'];
const authors: readonly Visitor[] = ['administrator', 'developer'];
const administrators: readonly Visitor[] = ['administrator'];
const auditors: readonly Visitor[] = ['administrator', 'auditor'];

type Name = string | RegExp;
type Find = (page: Page) => Locator;
const main: Find = (page) => page.getByRole('main');
const dialog: Find = (page) => page.getByRole('dialog');
const text =
  (wanted: Name, exact = false): Find =>
  (page) =>
    main(page).getByText(wanted, { exact }).first();
const role =
  (kind: 'button' | 'link' | 'switch' | 'row' | 'heading' | 'radio', name: Name): Find =>
  (page) =>
    main(page).getByRole(kind, { name, exact: true }).first();
const toast =
  (wanted: Name): Find =>
  (page) =>
    page.getByText(wanted).first();

/** Clicks the control and waits until `sign` appears. */
const press =
  (sign: Find): ScreenAction['work'] =>
  async (page, control) => {
    await control.click();
    await sign(page).waitFor();
  };
/** Opens the control's form, fills in the fields with % replaced by the visitor's role, and submits the form. */
const fill =
  (fields: Readonly<Record<string, string>>, confirm: string, sign: Find): ScreenAction['work'] =>
  async (page, control, { visitor }) => {
    await control.click();
    for (const [label, value] of Object.entries(fields)) {
      const field = dialog(page).getByLabel(label, { exact: true });
      await field.fill(value.replace('%', visitor));
    }
    await dialog(page).getByRole('button', { name: confirm, exact: true }).click();
    await sign(page).waitFor();
  };
/** Toggles a switch twice, which restores its original state. */
const turn: ScreenAction['work'] = async (page, control) => {
  for (const isOn of [false, true]) {
    await control.click();
    await main(page).getByRole('switch', { name: 'Enabled', checked: isOn }).waitFor();
  }
};
const succeeded: Find = (page) =>
  page.getByRole('status', { name: 'Run status' }).getByText('Success');
const runs = press(succeeded);
/** Reruns a run from its page. The page shows the old run's status until the new run is displayed. */
const runsAgain: ScreenAction['work'] = async (page, control) => {
  const before = page.url();
  await control.click();
  await page.waitForURL(({ href }) => href !== before);
  await succeeded(page).waitFor();
};
const makeToken: ScreenAction['work'] = async (page, control) => {
  await control.click();
  await dialog(page).getByLabel('Name').fill('a token');
  await dialog(page).getByLabel('Read runs and their logs').check();
  await dialog(page).getByRole('button', { name: 'Create token' }).click();
  await toast(apiTokenForm)(page).waitFor();
};

async function choose(page: Page, field: string, name: string): Promise<void> {
  await dialog(page).getByLabel(field).pressSequentially(name);
  await page.getByRole('option', { name, exact: true }).click();
  await page.getByRole('listbox').waitFor({ state: 'detached' });
}

export function screensOf(seeded: Seeded): readonly Screen[] {
  const { scriptId, runId, failedRunId, errorGroupId, scheduleId, approvalId } = seeded;
  return [
    {
      path: '/',
      of: everyone,
      sign: text(/% succeeded/),
      actions: [
        {
          of: everyone,
          control: role('link', /^Scripts/),
          work: press(role('heading', 'Scripts')),
        },
      ],
    },
    {
      path: '/scripts',
      of: everyone,
      sign: role('link', 'Daily report'),
      actions: [
        { of: workers, control: role('button', 'Run Daily report'), work: runs },
        {
          of: authors,
          control: role('button', 'New script'),
          work: fill({ Name: 'made by %' }, 'Create script', (page) =>
            page.getByRole('textbox', { name: 'Code of main.py' }),
          ),
        },
      ],
    },
    {
      path: '/scripts/trash',
      of: everyone,
      sign: role('heading', 'Trash is empty'),
      actions: [],
    },
    ...ofScript(`/scripts/${scriptId}`),
    {
      path: '/runs',
      of: everyone,
      sign: role('link', /^Run of Mail the report, failed/),
      actions: [
        {
          of: workers,
          control: (page) => page.getByRole('checkbox', { name: 'Select all runs on this page' }),
          work: press((page) => page.getByRole('toolbar').getByRole('button', { name: 'Stop' })),
        },
      ],
    },
    ...ofRun(`/runs/${runId}`, failedRunId),
    {
      path: '/errors',
      of: everyone,
      sign: role('link', /^ConnectionError: mail.example.com/),
      actions: [],
    },
    {
      path: `/errors/${errorGroupId}`,
      of: everyone,
      sign: role('link', /^Run of Mail the report, failed/),
      actions: [{ of: workers, control: role('button', 'Resolve…'), work: press(dialog) }],
    },
    {
      path: '/approvals',
      of: everyone,
      sign: role('link', 'Run of Pay invoices'),
      actions: [],
    },
    {
      path: `/approvals/${approvalId}`,
      of: everyone,
      sign: role('heading', 'Run of Pay invoices'),
      actions: [],
    },
    {
      path: '/schedules',
      of: everyone,
      sign: role('link', 'Every day at 02:30'),
      actions: [
        {
          of: authors,
          control: role('button', 'New schedule'),
          work: async (page, control) => {
            await control.click();
            await choose(page, 'Script', 'Archive');
            await dialog(page).getByRole('button', { name: 'Create schedule' }).click();
            await page.waitForURL('**/schedules/*');
          },
        },
      ],
    },
    {
      path: '/schedules/calendars',
      of: everyone,
      sign: role('heading', 'Holidays'),
      actions: [
        { of: administrators, control: role('button', 'New calendar'), work: press(dialog) },
        { of: administrators, control: role('button', 'Edit Holidays'), work: press(dialog) },
        { of: administrators, control: role('button', 'Delete Holidays'), work: press(dialog) },
      ],
    },
    {
      path: `/schedules/${scheduleId}`,
      of: everyone,
      sign: role('heading', 'Next due times'),
      actions: [
        { of: authors, control: role('switch', 'Enabled'), work: turn },
        { of: authors, control: role('button', 'Edit'), work: press(dialog) },
        { of: authors, control: role('button', 'Delete'), work: press(dialog) },
      ],
    },
    {
      path: '/chains',
      of: authors,
      sign: role('button', /when Daily report succeeds, Mail the report runs$/),
      actions: [
        {
          of: authors,
          control: role('button', 'New chain'),
          work: async (page, control, { visitor }) => {
            await control.click();
            await choose(page, 'When this script finishes', 'Archive');
            await choose(page, 'Start this script', `made by ${visitor}`);
            await dialog(page).getByRole('button', { name: 'Create chain' }).click();
            const made = new RegExp(`when Archive succeeds, made by ${visitor} runs$`);
            await role('button', made)(page).waitFor();
          },
        },
      ],
    },
    ...notifications,
    ...ofPlatform,
  ];
}

function ofScript(path: string): readonly Screen[] {
  const code: Find = (page) => page.getByRole('textbox', { name: 'Code of main.py' });
  return [
    {
      path,
      of: workers,
      instead: `${path}/runs`,
      sign: code,
      actions: [
        {
          of: authors,
          control: role('button', 'Save'),
          work: async (page, control, { visitor }) => {
            await code(page).fill(`print("of ${visitor}")\n`);
            await control.click();
            await toast('Saved')(page).waitFor();
          },
        },
        { of: workers, control: role('button', 'Run'), work: runs },
        { of: workers, control: role('button', 'Versions'), work: press(dialog) },
      ],
    },
    {
      path: `${path}/runs`,
      of: everyone,
      sign: role('link', /^Run of Daily report, success/),
      actions: [],
    },
    {
      path: `${path}/schedules`,
      of: everyone,
      sign: role('link', 'Every day at 02:30'),
      actions: [
        {
          of: authors,
          control: role('button', 'New schedule'),
          work: fill({}, 'Create schedule', toast('Schedule created')),
        },
      ],
    },
    {
      path: `${path}/webhooks`,
      of: authors,
      sign: role('row', /shop system/),
      actions: [
        {
          of: authors,
          control: role('button', 'New webhook'),
          work: fill({ Name: 'of %' }, 'Create webhook', toast('Done')),
        },
      ],
    },
    {
      path: `${path}/secrets`,
      of: authors,
      sign: role('row', /SHOP_TOKEN/),
      actions: [
        {
          of: authors,
          control: role('button', 'New secret'),
          work: fill({ Name: 'SHOP_USER', Value: '%' }, 'Create secret', role('row', /SHOP_USER/)),
        },
      ],
    },
    {
      path: `${path}/settings`,
      of: workers,
      sign: role('heading', 'Enabled'),
      actions: [
        {
          of: authors,
          control: (page) => page.getByLabel('Description'),
          work: async (page, control, { visitor }) => {
            await control.fill(`of ${visitor}`);
            await role('button', 'Save settings')(page).click();
            await toast('Settings saved')(page).waitFor();
          },
        },
        { of: authors, control: role('button', 'Copy script'), work: press(dialog) },
        {
          of: authors,
          control: role('button', 'Download files'),
          work: async (page, control) => {
            await Promise.all([page.waitForEvent('download'), control.click()]);
          },
        },
        {
          of: workers,
          control: role('switch', 'Enabled'),
          work: async (page, control, { product }) => {
            await control.click();
            await role('heading', 'Disabled')(page).waitFor();
            // Enables the script again as administrator, because some roles may disable a script but not enable it.
            await product.call('POST', `${path}/enable`);
            await role('heading', 'Enabled')(page).waitFor();
          },
        },
      ],
    },
  ];
}

function ofRun(path: string, otherId: string): readonly Screen[] {
  return [
    {
      path,
      of: everyone,
      sign: text('done', true),
      actions: [
        { of: workers, control: role('button', 'Run again'), work: runsAgain },
        { of: workers, control: role('button', 'Rerun original version'), work: runsAgain },
        { of: workers, control: role('button', 'Run with parameters…'), work: press(dialog) },
        {
          of: everyone,
          control: (page) => page.getByLabel('Search the log'),
          work: async (page, control) => {
            await control.fill('customer 16');
            await page.getByRole('toolbar', { name: 'Matches' }).getByText('1 of 23').waitFor();
          },
        },
      ],
    },
    { path: `${path}?view=why`, of: everyone, sign: text('This run'), actions: [] },
    { path: `${path}?view=data`, of: everyone, sign: role('heading', 'Results'), actions: [] },
    { path: `${path}?view=events`, of: everyone, sign: text('RunFinished', true), actions: [] },
    {
      path: `/runs/${otherId}?view=changes`,
      of: everyone,
      sign: text(/no earlier successful run/),
      actions: [],
    },
    {
      path: `${path}/compare/${otherId}`,
      of: everyone,
      sign: text('Peak memory'),
      actions: [
        {
          of: workers,
          control: role('heading', 'Code and settings'),
          work: async () => {},
        },
      ],
    },
  ];
}

const notifications: readonly Screen[] = [
  {
    path: '/notifications',
    of: everyone,
    sign: text(/Mail the report: ConnectionError: mail.example.com/),
    actions: [
      {
        of: everyone,
        control: role('button', 'Mark all as read'),
        work: async (_, control) => {
          await control.click();
          await control.waitFor({ state: 'detached' });
        },
      },
    ],
  },
  {
    path: '/notifications/channels',
    of: administrators,
    sign: role('row', /on call/),
    actions: [
      {
        of: administrators,
        control: role('button', 'New channel'),
        work: press(dialog),
      },
    ],
  },
  {
    path: '/notifications/rules',
    of: administrators,
    sign: role('heading', 'No rules yet'),
    actions: [
      {
        of: administrators,
        control: role('button', 'New rule'),
        work: press(dialog),
      },
    ],
  },
  {
    path: '/notifications/deliveries',
    of: administrators,
    sign: role('heading', 'No deliveries yet'),
    actions: [],
  },
];

const ofPlatform: readonly Screen[] = [
  {
    path: '/account',
    of: everyone,
    sign: role('heading', 'Sessions'),
    actions: [{ of: everyone, control: role('button', 'New token'), work: makeToken }],
  },
  {
    path: '/preferences',
    of: everyone,
    sign: role('heading', 'Preferences'),
    actions: [
      {
        of: everyone,
        control: text('12-hour'),
        work: press(text(/^Current time: .* [ap]m\.$/i)),
      },
    ],
  },
  {
    path: '/secret-stores',
    of: administrators,
    sign: role('heading', 'Secret stores'),
    actions: [
      {
        of: administrators,
        control: role('button', 'New store'),
        work: fill(
          { Name: 'store of %', Address: 'https://vault.example.com', Token: 'token' },
          'Create store',
          text('store of administrator'),
        ),
      },
    ],
  },
  {
    path: '/people',
    of: administrators,
    sign: role('row', /ada@example.com/),
    actions: [
      {
        of: administrators,
        control: role('button', 'New group'),
        work: fill({ Name: 'group of %' }, 'Create group', text('group of administrator')),
      },
    ],
  },
  {
    path: '/audit',
    of: auditors,
    sign: (page) => page.getByRole('table', { name: 'Audit trail' }).getByRole('button').first(),
    actions: [
      {
        of: auditors,
        control: role('button', 'Verify'),
        work: press(toast(/^Verified: all \d+ entries/)),
      },
    ],
  },
  {
    path: '/replay',
    of: auditors,
    sign: text(/^You are viewing the present/),
    actions: [
      {
        of: auditors,
        control: role('button', 'Previous event'),
        work: async (page, control) => {
          await control.click();
          await page.waitForURL('**/replay?at=*');
          await role('button', 'Next event')(page).waitFor();
        },
      },
    ],
  },
  {
    path: '/configuration',
    of: administrators,
    sign: role('heading', 'Configuration'),
    actions: [
      {
        of: administrators,
        control: role('button', 'Export'),
        work: async (page, control) => {
          await Promise.all([page.waitForEvent('download'), control.click()]);
        },
      },
    ],
  },
  {
    path: '/repositories',
    of: administrators,
    sign: role('heading', 'Repositories'),
    actions: [
      {
        of: administrators,
        control: role('button', 'Add repository'),
        work: fill(
          { Name: 'Jobs of %', URL: 'http://127.0.0.1:9/jobs.git' },
          'Add repository',
          (page) => page.getByText('Set up a push webhook'),
        ),
      },
    ],
  },
  {
    path: '/backups',
    of: administrators,
    sign: role('row', /Manual/),
    actions: [
      {
        of: administrators,
        control: role('button', 'Create backup'),
        work: press((page) =>
          main(page)
            .getByRole('row', { name: /Manual/ })
            .nth(1),
        ),
      },
    ],
  },
  {
    path: '/updates',
    of: administrators,
    sign: text('Not checked for updates yet.'),
    actions: [],
  },
  {
    path: '/system',
    of: everyone,
    sign: role('heading', 'Services'),
    actions: [
      { of: administrators, control: role('button', 'Pause all'), work: press(dialog) },
      {
        of: administrators,
        control: (page) => page.getByLabel('Logs', { exact: true }),
        work: async () => {},
      },
    ],
  },
  {
    path: '/models',
    of: everyone,
    sign: role('heading', 'Authentication'),
    actions: [{ of: everyone, control: role('button', 'New token'), work: makeToken }],
  },
];
