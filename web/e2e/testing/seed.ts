/** Fills a product with the data that a small team creates in a few days, so that no page is empty. */
import {
  productPassword,
  until,
  type Product,
  type RunAnswer,
} from '../../../services/minimal/testing/product.ts';

/** The IDs of the seeded resources that have their own pages. */
export interface Seeded {
  readonly scriptId: string;
  readonly runId: string;
  readonly failedRunId: string;
  readonly errorGroupId: string;
  readonly scheduleId: string;
  readonly approvalId: string;
}

const report = `"""Asks the shop for yesterday's orders and writes a report."""
import sys
from modules.orders import orders

print("\\x1b[1mReading\\x1b[0m the orders of the day")
for number, order in enumerate(orders(), start=1):
    print(f"{number:4} {order['customer']:<12} {order['total']:>8.2f}")
    if order["total"] > 990:
        print(f"WARNING: order {number} is unusually large", file=sys.stderr)
print("\\x1b[32mdone\\x1b[0m")
`;
const orders = `"""Orders, made up."""


def orders(count=400):
    for number in range(count):
        yield {"customer": f"customer {number % 17}", "total": (number * 37) % 1000 + 0.5}
`;
const failing = `print("connecting to the mail server")
raise ConnectionError("mail.example.com does not answer")
`;

const holidays = `BEGIN:VCALENDAR
VERSION:2.0
BEGIN:VEVENT
UID:christmas
DTSTART;VALUE=DATE:20251225
DTEND;VALUE=DATE:20251227
RRULE:FREQ=YEARLY
SUMMARY:Christmas
END:VEVENT
BEGIN:VEVENT
UID:new-year
DTSTART;VALUE=DATE:20260101
RRULE:FREQ=YEARLY
SUMMARY:New Year
END:VEVENT
END:VCALENDAR
`;

export async function seed(product: Product): Promise<Seeded> {
  const made = async (path: string, body: object): Promise<string> =>
    (await product.call<{ id: string }>('POST', path, body)).id;
  const scriptId = await product.script('Daily report', {
    'main.py': report,
    'modules/orders.py': orders,
    'README.md': '# Daily report\n\nAsks the shop for orders.\n',
    'requirements.txt': '# The standard library is enough.\n',
  });
  const mailId = await product.script('Mail the report', { 'main.py': failing });
  const archiveId = await product.script('Archive', { 'main.py': 'print("archived")\n' });
  for (const [name, template] of [
    ['Front page', 'http-monitor'],
    ['Support bot', 'chat-bot'],
    ['Nightly import', 'etl-job'],
  ] as const) {
    await made('/scripts', { name, template, description: `Made from the template ${template}` });
  }
  await made('/chains', { source_script_id: scriptId, target_script_id: mailId, on: 'success' });
  await made('/chains', { source_script_id: mailId, target_script_id: archiveId, on: 'any' });
  const calendarId = await made('/calendars', { name: 'Holidays', content: holidays });
  const scheduleId = await made('/schedules', {
    calendar_id: calendarId,
    script_id: scriptId,
    kind: 'cron',
    cron: '30 2 * * *',
    timezone: 'Europe/Berlin',
  });
  await made('/schedules', { script_id: archiveId, kind: 'interval', interval_seconds: 3600 });
  await made('/webhooks', { script_id: scriptId, name: 'shop system' });
  await product.call('PUT', `/scripts/${scriptId}/secrets/SHOP_TOKEN`, { value: 'not to be seen' });
  await made('/notifications/channels', {
    name: 'on call',
    kind: 'webhook',
    config: { url: 'https://hooks.example.com/on-call' },
  });
  await people(product);
  const payId = await product.script('Pay invoices', { 'main.py': 'print("paid")\n' });
  await product.call('PATCH', `/scripts/${payId}`, { protected: { run: true } });
  const { run_id: approvalId } = await product.run(payId);
  await made('/auth/tokens', { name: 'deploy', scopes: ['scripts:read', 'runs:write'] });
  await made('/backups', {});
  const run = await product.run(scriptId);
  await product.untilFinished(run.run_id);
  // The chain started this run.
  const failed = await until('the report was mailed', async () => {
    const path = `/runs/scripts/${mailId}/runs`;
    const { items } = await product.call<{ items: RunAnswer[] }>('GET', path);
    return items.find(({ status }) => status === 'failed');
  });
  const [errorGroup] = (await product.call<{ items: { id: string }[] }>('GET', '/error-groups'))
    .items;
  if (errorGroup === undefined) throw new Error('the failed run has no error group');
  return {
    scriptId,
    scheduleId,
    runId: run.run_id,
    failedRunId: failed.run_id,
    errorGroupId: errorGroup.id,
    approvalId,
  };
}

async function people(product: Product): Promise<void> {
  const { items } = await product.call<{ items: { id: string; name: string }[] }>('GET', '/groups');
  for (const [name, role, group] of [
    ['Ada', 'developer', 'custom'],
    ['Omar', 'operator', 'monitoring'],
    ['Vera', 'viewer', 'ETL'],
  ] as const) {
    const ids = items.filter((one) => one.name === group).map(({ id }) => id);
    const email = `${name.toLowerCase()}@example.com`;
    const account = { name, role, email, password: productPassword, group_ids: ids };
    await product.call('POST', '/users', account);
  }
}
