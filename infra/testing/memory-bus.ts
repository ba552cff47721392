/** The bus within one process, for tests and for a platform that runs in one process. */
import type { Bus, BusMessage, Topic } from '#domain/ports/bus.ts';
import { Subscriptions } from '../bus/subscriptions.ts';

export class MemoryBus implements Bus {
  readonly problem = undefined;
  readonly #subscriptions = new Subscriptions();

  publish(...messages: readonly BusMessage[]): void {
    // Messages are never delivered within the publisher's call, as over a network.
    queueMicrotask(() => {
      for (const message of messages) this.#subscriptions.deliver(message);
    });
  }

  subscribe<T extends Topic>(
    topic: T,
    listener: (message: Extract<BusMessage, { topic: T }>) => void,
  ): () => void {
    return this.#subscriptions.add(topic, listener);
  }

  close(): Promise<void> {
    this.#subscriptions.clear();
    return Promise.resolve();
  }
}
