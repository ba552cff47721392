/** The message bus on Postgres notifications. All messages use one channel, and each process has one listening
 *  connection. Messages are batched while the previous notification is being sent. Notifications are never sent in an
 *  append's transaction, because the commit would then wait for a lock that the whole cluster shares. */
import type { Bus, BusMessage, Topic } from '#domain/ports/bus.ts';
import type { Write } from '#projections/projection.ts';
import { Connection } from '#infra/postgres/connection.ts';
import type pg from 'pg';
import { Outbox, payloadOf } from './outbox.ts';
import { Subscriptions } from './subscriptions.ts';

const channel = 'orch_bus';
// Postgres rejects notification payloads of 8000 bytes or more.
const maxListBytes = 7_990;
const maxPayloadBytes = 7_900;
const reconnectMs = 250;
/** A listening connection sends no queries, so its loss would go unnoticed without heartbeats. */
const heartbeatMs = 2_000;

const statements = {
  notify: `SELECT pg_notify('${channel}', payload) FROM unnest($1::text[]) AS payload`,
  notifyIf: (proof: string) => `SELECT pg_notify('${channel}', payload)
    FROM json_array_elements_text($1::json) AS payload WHERE EXISTS (${proof})`,
  listen: `LISTEN ${channel}`,
};

export interface PostgresBusOptions {
  readonly url: string;
  readonly pool: pg.Pool;
  /** Called once per connection failure. The bus reconnects automatically. */
  readonly onError: (error: unknown) => void;
}

export class PostgresBus implements Bus {
  readonly #options: PostgresBusOptions;
  readonly #subscriptions = new Subscriptions();
  readonly #outbox: Outbox;
  #listener: pg.Client | undefined;
  #closed = false;
  #retry: NodeJS.Timeout | undefined;

  private constructor(options: PostgresBusOptions) {
    this.#options = options;
    const { pool, onError } = options;
    this.#outbox = new Outbox({
      maxPayloadBytes,
      send: async (payloads) =>
        void (await pool.query(statements.notify, [joined(payloads.keys())])),
      onError,
    });
  }

  /** Connects to Postgres and starts listening.
   *  @throws Error if Postgres is unreachable */
  static async open(options: PostgresBusOptions): Promise<PostgresBus> {
    const bus = new PostgresBus(options);
    await bus.#listen();
    return bus;
  }

  get problem(): string | undefined {
    return this.#listener === undefined ? 'the bus does not listen to the database' : undefined;
  }

  publish(...messages: readonly BusMessage[]): void {
    if (this.#closed) return;
    for (const message of messages) this.#outbox.add(message);
  }

  /** Returns a statement that publishes the messages when it is executed on another connection.
   *  @param proof a query whose parameters begin with `$2`. If the query returns no row, no notification is sent
   *  @returns `undefined` if the bus is closed */
  statementFor(messages: readonly BusMessage[], proof: Write): Write | undefined {
    if (this.#closed) return undefined;
    const payloads = new Set(messages.map((message) => payloadOf(message, maxPayloadBytes)));
    const values = [JSON.stringify(joined(payloads)), ...proof.values];
    return { text: statements.notifyIf(proof.text), values };
  }

  subscribe<T extends Topic>(
    topic: T,
    listener: (message: Extract<BusMessage, { topic: T }>) => void,
  ): () => void {
    return this.#subscriptions.add(topic, listener);
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    clearTimeout(this.#retry);
    this.#subscriptions.clear();
    await this.#outbox.settled();
    await this.#listener?.end().catch(this.#options.onError);
  }

  async #listen(): Promise<void> {
    const connection = new Connection({
      connectionString: this.#options.url,
      application_name: 'bus',
    });
    const client: pg.Client = connection;
    client.on('error', (error) => this.#reconnect(client, error));
    client.on('end', () => this.#reconnect(client, undefined));
    client.on('notification', ({ payload }) => this.#receive(payload));
    await client.connect();
    await client.query(statements.listen);
    this.#listener = client;
    // A connection without a heartbeat response is replaced (`connection-watch.ts`).
    const heartbeat = setInterval(() => {
      if (!connection.isWaiting) client.query('SELECT').catch(() => undefined);
    }, heartbeatMs).unref();
    client.once('end', () => clearInterval(heartbeat));
  }

  #reconnect(client: pg.Client, error: unknown): void {
    if (this.#closed || (this.#listener !== undefined && this.#listener !== client)) return;
    this.#listener = undefined;
    if (this.#retry !== undefined) return;
    if (error !== undefined) this.#options.onError(error);
    this.#retry = setTimeout(() => {
      this.#retry = undefined;
      this.#listen().then(
        () => this.#wakeAll(),
        (cause: unknown) => this.#reconnect(client, cause),
      );
    }, reconnectMs);
  }

  // Notifications may have been missed while the connection was down, so subscribers must poll.
  #wakeAll(): void {
    this.#subscriptions.deliver({ topic: 'events' });
    this.#subscriptions.deliver({ topic: 'queue' });
  }

  #receive(payload: string | undefined): void {
    if (payload === undefined) return;
    const received = JSON.parse(payload) as BusMessage | readonly BusMessage[];
    // Processes of an earlier release send a single message rather than a list.
    for (const message of [received].flat()) this.#subscriptions.deliver(message);
  }
}

/** Groups messages into lists of the maximum payload size, because every notification wakes all listeners. */
function joined(payloads: Iterable<string>): readonly string[] {
  const lists: string[][] = [];
  let room = 0;
  for (const payload of payloads) {
    const bytes = Buffer.byteLength(payload) + 1;
    if (bytes > room) {
      lists.push([]);
      room = maxListBytes;
    }
    room -= bytes;
    lists.at(-1)?.push(payload);
  }
  return lists.map((list) => `[${list.join(',')}]`);
}
