/** The bus within one process: for tests, and for a platform that runs as one. */
import type { Bus, BusMessage, Topic } from '#domain/ports/bus.ts';
import { Subscriptions } from './subscriptions.ts';

export class MemoryBus implements Bus {
  readonly problem = undefined;
  readonly #subscriptions = new Subscriptions();

  publish(...messages: readonly BusMessage[]): void {
    // Never within the publisher's call: over a network it would not be so either.
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
