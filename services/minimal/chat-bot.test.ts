/** Runs the chat bot template as an always-on script and tests its recovery from failures. The messaging service is
 *  simulated. Everything else starts as with `make run`. */
import { createServer, type Server, type ServerResponse } from 'node:http';
import { json } from 'node:stream/consumers';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Product, until } from './testing/product.ts';

const variables = { ORCH_LEASE_SECONDS: '6' };

interface Update {
  readonly update_id: number;
  readonly message: { readonly text: string; readonly chat: { readonly id: number } };
}

/** The part of the Telegram API that the bot uses. Unacknowledged updates are delivered again, because a bot may
 *  exit before it acknowledges them. */
class Messenger {
  readonly #server: Server;
  #updates: readonly Update[] = [];
  #last = 0;
  #isBroken = false;
  readonly #answers: string[] = [];

  constructor() {
    this.#server = createServer((request, response) => {
      json(request).then(
        (sent) => this.#serve(request.url ?? '', sent as Sent, response),
        () => response.destroy(),
      );
    });
  }

  #serve(url: string, { text = '', offset = 0 }: Sent, response: ServerResponse): void {
    if (this.#isBroken) {
      this.#isBroken = false;
      response.writeHead(500).end();
      return;
    }
    if (url.endsWith('/sendMessage')) this.#answers.push(text);
    this.#updates = this.#updates.filter((update) => update.update_id >= offset);
    const result = url.endsWith('/getUpdates') ? this.#updates : [];
    response.end(JSON.stringify({ result }));
  }

  async listen(): Promise<string> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Sends the bot a message. Resolves when the bot has replied with the text `answer`. */
  async ask(text: string, answer: string): Promise<void> {
    this.#last += 1;
    this.#updates = [
      ...this.#updates,
      { update_id: this.#last, message: { text, chat: { id: 1 } } },
    ];
    await until(`the bot answers ${text}`, async () => this.#answers.includes(answer) || undefined);
  }

  /** Makes the bot's next request fail, so that the bot crashes. */
  break(): void {
    this.#isBroken = true;
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }
}

interface Sent {
  readonly text?: string;
  readonly offset?: number;
}

const messenger = new Messenger();
let product: Product;
beforeAll(async () => {
  product = await Product.start({ variables });
}, 120_000);
afterAll(async () => {
  await product.stop();
  await product.remove();
  messenger.close();
});

interface ListedRun {
  readonly run_id: string;
  readonly status: string;
  readonly failure_reason: string | null;
}

test('a bot recovers from its own crash, a killed runtime and a restart of the whole service', async () => {
  const address = await messenger.listen();
  const { id } = await product.call<{ id: string }>('POST', '/scripts', {
    name: 'Bot',
    template: 'chat-bot',
    keep_alive: false,
    environment: { BOT_TOKEN: 'token' },
  });
  const source = await (await product.fetch('GET', `/scripts/${id}/files/main.py`)).text();
  const content = source.replace('https://api.telegram.org', address);
  expect(content).not.toBe(source);
  await product.call('PUT', `/scripts/${id}/files/main.py`, { content, encoding: 'utf-8' });
  await product.call('PATCH', `/scripts/${id}`, { keep_alive: true });
  await messenger.ask('/sum 1 2', '3');

  messenger.break();
  await messenger.ask('/echo after a crash', 'after a crash');

  process.kill(await product.pidOf('runtime'), 'SIGKILL');
  await messenger.ask('/echo after the runtime', 'after the runtime');

  await product.stop();
  product = await Product.start({ dataDir: product.dataDir, variables });
  await messenger.ask('/echo after everything', 'after everything');

  const { items } = await product.call<{ items: ListedRun[] }>('GET', `/scripts/${id}/runs`);
  const [alive, ...ended] = items;
  expect(alive?.status).toBe('running');
  expect(ended.map((run) => run.status)).not.toContain('running');
  const reasons = ended.toReversed().map((run) => run.failure_reason);
  expect(reasons.slice(0, 1)).toEqual(['exit_code']);
  expect(reasons).toContain('runtime_lost');
}, 240_000);
