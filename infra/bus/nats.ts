/** The message bus on NATS. Logs and samples are sent only to processes that subscribed to them. */
import type { Bus, BusMessage, Topic } from '#domain/ports/bus.ts';
import type { Msg } from '@nats-io/transport-node';
import type { NatsLink } from './nats-link.ts';
import { Outbox, type Payloads } from './outbox.ts';
import { Subscriptions } from './subscriptions.ts';

/** By default, NATS servers refuse messages larger than 1 MiB. */
const maxPayloadBytes = 256 * 1024;
const heavy: ReadonlySet<Topic> = new Set(['log', 'sample']);

export interface NatsBusOptions {
  readonly link: NatsLink;
  /** The subject prefix, which allows several installations to share a server. */
  readonly prefix: string;
  readonly onError: (error: unknown) => void;
}

export class NatsBus implements Bus {
  readonly #options: NatsBusOptions;
  readonly #subscriptions = new Subscriptions();
  readonly #outbox: Outbox;
  readonly #subjects: Set<string>;
  #closed = false;

  constructor(options: NatsBusOptions) {
    this.#options = options;
    const { link, onError } = options;
    this.#subjects = new Set([`${options.prefix}.hint.>`]);
    this.#outbox = new Outbox({
      maxPayloadBytes,
      send: (payloads) => this.#send(payloads),
      onError,
    });
    link.onConnect(() => {
      for (const subject of this.#subjects) this.#listen(subject);
      // Messages may have been missed while the connection was down, so subscribers must poll.
      this.#deliver({ topic: 'events' });
      this.#deliver({ topic: 'queue' });
    });
  }

  get problem(): string | undefined {
    return this.#options.link.problem;
  }

  publish(...messages: readonly BusMessage[]): void {
    if (this.#closed) return;
    for (const message of messages) this.#outbox.add(message);
  }

  subscribe<T extends Topic>(
    topic: T,
    listener: (message: Extract<BusMessage, { topic: T }>) => void,
  ): () => void {
    const unsubscribe = this.#subscriptions.add(topic, listener);
    const subject = this.#subjectOf(topic);
    if (heavy.has(topic) && !this.#subjects.has(subject)) {
      this.#subjects.add(subject);
      this.#listen(subject);
    }
    return unsubscribe;
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#subscriptions.clear();
    await this.#outbox.settled();
  }

  #subjectOf(topic: Topic): string {
    return `${this.#options.prefix}.${heavy.has(topic) ? 'live' : 'hint'}.${topic}`;
  }

  async #send(payloads: Payloads): Promise<void> {
    const { connection } = this.#options.link;
    // While disconnected, the library would buffer messages without limit, and they would be outdated when sent.
    if (connection === undefined) return;
    for (const [payload, { topic }] of payloads)
      connection.publish(this.#subjectOf(topic), payload);
    // `flush` never settles after the connection is lost.
    await Promise.race([connection.flush(), connection.closed()]);
  }

  #listen(subject: string): void {
    this.#options.link.connection?.subscribe(subject, {
      callback: (error, message) => {
        if (error === null) this.#receive(message);
        else this.#options.onError(error);
      },
    });
  }

  #receive(message: Msg): void {
    try {
      const received = message.json<BusMessage>();
      if (message.subject === this.#subjectOf(received.topic)) this.#deliver(received);
    } catch (error) {
      // Any client with publish permission can send invalid messages, which must not close the connection.
      this.#options.onError(error);
    }
  }

  #deliver(message: BusMessage): void {
    this.#subscriptions.deliver(message);
  }
}
