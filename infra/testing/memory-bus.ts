/** An in-process message bus, for tests and for a platform that runs in a single process. */
import type { Bus, BusMessage, Topic } from '#domain/ports/bus.ts';
import { Subscriptions } from '../bus/subscriptions.ts';

export class MemoryBus implements Bus {
  readonly problem = undefined;
  readonly #subscriptions = new Subscriptions();

  publish(...messages: readonly BusMessage[]): void {
    // As on a network, messages are never delivered during the call that publishes them.
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
