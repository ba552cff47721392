/** The chat bot of the templates, kept alive through everything that may end it. Its messenger is a
 *  server of the test; everything else is what `make run` starts. */
import { createServer, type Server, type ServerResponse } from 'node:http';
import { json } from 'node:stream/consumers';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Product, until } from './testing/product.ts';

const variables = { ORCH_LEASE_SECONDS: '6' };

/** As much of Telegram's API as the bot uses. */
class Messenger {
  readonly #server: Server;
  #asked: string[] = [];
  #updates = 0;
  #isBroken = false;
  readonly #answers: string[] = [];

  constructor() {
    this.#server = createServer((request, response) => {
      json(request).then(
        (sent) => this.#serve(request.url ?? '', sent as { text?: string }, response),
        () => response.destroy(),
      );
    });
  }

  #serve(url: string, sent: { text?: string }, response: ServerResponse): void {
    if (this.#isBroken) {
      this.#isBroken = false;
      response.writeHead(500).end();
      return;
    }
    if (url.endsWith('/sendMessage')) this.#answers.push(sent.text ?? '');
    const updates = this.#asked.map((text) => ({
      update_id: (this.#updates += 1),
      message: { text, chat: { id: 1 } },
    }));
    if (url.endsWith('/getUpdates')) this.#asked = [];
    response.end(JSON.stringify({ result: updates }));
  }

  async listen(): Promise<string> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Sends the bot a message. @returns once it has answered */
  async ask(text: string): Promise<string> {
    const before = this.#answers.length;
    this.#asked.push(text);
    return await until(`the bot answers ${text}`, async () => this.#answers[before]);
  }

  /** Fails the bot's next request, which the bot does not survive. */
  break(): void {
    this.#isBroken = true;
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }
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

test('a bot answers again after its own crash, a killed runtime and a restart of everything', async () => {
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
  expect(await messenger.ask('/sum 1 2')).toBe('3');

  messenger.break();
  expect(await messenger.ask('/echo after a crash')).toBe('after a crash');

  process.kill(await product.pidOf('runtime'), 'SIGKILL');
  expect(await messenger.ask('/echo after the runtime')).toBe('after the runtime');

  await product.stop();
  product = await Product.start({ dataDir: product.dataDir, variables });
  expect(await messenger.ask('/echo after everything')).toBe('after everything');

  const { items } = await product.call<{ items: ListedRun[] }>('GET', `/scripts/${id}/runs`);
  const [alive, ...ended] = items;
  expect(alive?.status).toBe('running');
  expect(ended.map((run) => run.status)).not.toContain('running');
  const reasons = ended.toReversed().map((run) => run.failure_reason);
  expect(reasons.slice(0, 1)).toEqual(['exit_code']);
  expect(reasons).toContain('runtime_lost');
}, 240_000);
