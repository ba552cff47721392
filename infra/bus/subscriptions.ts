import type { BusMessage, Topic } from '#domain/ports/bus.ts';

type Listener = (message: BusMessage) => void;

/** The listeners of each topic. All bus adapters share this implementation. */
export class Subscriptions {
  readonly #listeners = new Map<Topic, Set<Listener>>();

  add<T extends Topic>(
    topic: T,
    listener: (message: Extract<BusMessage, { topic: T }>) => void,
  ): () => void {
    const listeners = this.#listeners.get(topic) ?? new Set();
    this.#listeners.set(topic, listeners);
    // The cast is safe: messages are delivered by topic, so each listener receives only messages of its type.
    listeners.add(listener as Listener);
    return () => void listeners.delete(listener as Listener);
  }

  deliver(message: BusMessage): void {
    for (const listener of this.#listeners.get(message.topic) ?? []) listener(message);
  }

  has(topic: Topic): boolean {
    return (this.#listeners.get(topic)?.size ?? 0) > 0;
  }

  clear(): void {
    this.#listeners.clear();
  }
}
