import { createSubscriber } from 'svelte/reactivity';
import { connection } from '#lib/api/connection.svelte.ts';

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

/** Like `secondClock`, but stops while the server is unreachable, because runs may have ended in the meantime. */
export const runClock = {
  get nowMs(): number {
    return connection.lostAt?.getTime() ?? secondClock.nowMs;
  },
};

export const minuteClock = new Clock(20_000);
