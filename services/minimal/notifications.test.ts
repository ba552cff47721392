/** Tests that a failed run creates a notification in the inbox and sends a signed webhook request. */
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Product, until } from './testing/product.ts';
import { prelude } from './testing/sdk-runs.ts';

let product: Product;
beforeAll(async () => {
  product = await Product.start({ variables: { ORCH_ALLOW_PRIVATE_TARGETS: '127.0.0.0/8' } });
}, 120_000);
afterAll(async () => {
  await product.stop();
  await product.remove();
});

interface Page<Item> {
  readonly items: readonly Item[];
  readonly unread: number;
}

test(
  'a failed run notifies its group and the recipients of a matching rule',
  { timeout: 120_000 },
  async () => {
    const received: { readonly headers: IncomingHttpHeaders; readonly body: string }[] = [];
    const receiver = createServer((request, response) => {
      void text(request).then((body) => {
        received.push({ headers: request.headers, body });
        response.end();
      });
    });
    receiver.listen(0, '127.0.0.1');
    await once(receiver, 'listening');
    const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook`;
    const channel = await product.call<{ id: string; secret: string }>(
      'POST',
      '/notifications/channels',
      { name: 'hook', kind: 'webhook', config: { url } },
    );
    const rule = { name: 'all', on: ['failed', 'message'], channel_ids: [channel.id] };
    await product.call('POST', '/notifications/rules', rule);
    const id = await product.script('Report', {
      'main.py': `${prelude}platform.notify("Nearly done.")\nraise SystemExit(3)\n`,
    });
    const { run_id: runId } = await product.run(id);

    const inbox = await until('the inbox has both', async () => {
      const page = await product.call<Page<object>>('GET', '/notifications');
      return page.items.length === 2 ? page : undefined;
    });
    const about = { script_id: id, script_name: 'Report', run_id: runId, read: false };
    expect(inbox).toMatchObject({
      unread: 2,
      items: [
        { ...about, on: 'failed', level: 'error', message: 'The run failed with exit code 3.' },
        { ...about, on: 'message', level: 'info', message: 'Nearly done.' },
      ],
    });
    await until('both were sent', async () => {
      const { items } = await product.call<Page<{ status: string }>>(
        'GET',
        '/notifications/deliveries?status=sent',
      );
      return items.length === 2 ? true : undefined;
    });
    receiver.close();
    const bodies = received.map(({ body }) => JSON.parse(body) as { type: string; data: object });
    expect(bodies.map(({ type }) => type).toSorted()).toEqual([
      'notification.failed',
      'notification.message',
    ]);
    expect(bodies.find(({ type }) => type === 'notification.failed')?.data).toMatchObject({
      message: 'The run failed with exit code 3.',
      error: { type: 'exit_code', source: 'platform' },
      error_group_id: expect.any(String),
    });
    for (const { headers, body } of received) {
      const signed = `${String(headers['webhook-id'])}.${String(headers['webhook-timestamp'])}.${body}`;
      const key = Buffer.from(channel.secret.slice('whsec_'.length), 'base64');
      const signature = createHmac('sha256', key).update(signed).digest('base64');
      expect(headers['webhook-signature']).toBe(`v1,${signature}`);
    }
  },
);

test(
  'a repeated error makes the existing notification unread again',
  { timeout: 120_000 },
  async () => {
    interface Entry {
      readonly id: string;
      readonly count: number;
      readonly read: boolean;
    }
    const source = 'import os\nfloat(os.environ["ORCH_RUN_ID"] + "n/a")\n';
    const id = await product.script('Import', { 'main.py': source });
    const failOnce = async () => {
      const { run_id: runId } = await product.run(id);
      await product.untilFinished(runId);
      return runId;
    };
    const entriesOf = async (runId: string) => {
      const path = `/notifications?script_id=${id}`;
      return await until('the last run is in the inbox', async () => {
        const { items } = await product.call<Page<Entry & { run_id: string }>>('GET', path);
        return items[0]?.run_id === runId ? items : undefined;
      });
    };
    const first = await entriesOf(await failOnce());
    expect(first).toMatchObject([{ count: 1, read: false }]);
    await product.call('POST', `/notifications/inbox/${first[0]?.id}/read`);
    await failOnce();
    const last = await failOnce();
    const again = await entriesOf(last);
    const { error_group_id } = await product.call<{ error_group_id: string }>(
      'GET',
      `/runs/${last}`,
    );
    expect(again).toMatchObject([
      { count: 3, read: false, error_group_id, message: expect.stringMatching(/^ValueError: /) },
    ]);

    await product.call('PATCH', `/error-groups/${error_group_id}`, { status: 'ignored' });
    const other = await product.script('Other', { 'main.py': '1 / 0' });
    await failOnce();
    const { run_id: otherRun } = await product.run(other);
    await until('a later failure is in the inbox', async () => {
      const { items } = await product.call<Page<{ run_id: string }>>('GET', '/notifications');
      return items[0]?.run_id === otherRun ? true : undefined;
    });
    expect(await entriesOf(last)).toMatchObject([{ count: 3 }]);
  },
);
