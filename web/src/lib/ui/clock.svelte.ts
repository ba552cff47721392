import { createSubscriber } from 'svelte/reactivity';

/** The current time. The clock ticks only while a component reads it. */
class Clock {
  readonly #subscribe: () => void;

  constructor(everyMs: number) {
    this.#subscribe = createSubscriber((update) => {
      const timer = setInterval(update, everyMs);
      return () => clearInterval(timer);
    });
  }

  get nowMs(): number {
    this.#subscribe();
    return Date.now();
  }
}

export const secondClock = new Clock(1000);
export const minuteClock = new Clock(20_000);
