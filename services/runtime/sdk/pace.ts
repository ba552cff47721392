/** Limits a run's concurrent calls and its calls per second, because all runs share the database. Calls beyond a
 *  limit wait. */
import { performance } from 'node:perf_hooks';
import { setTimeout as wait } from 'node:timers/promises';

const maxConcurrent = 4;
const burst = 200;
const perSecond = 100;

export class Pace {
  readonly #waiting: (() => void)[] = [];
  #active = 0;
  /** The time at which the rate limit permits the next call. */
  #dueAtMs = 0;

  /** Executes the work when the limits permit it. */
  async keep<Result>(work: () => Promise<Result>, signal: AbortSignal): Promise<Result> {
    if (this.#active >= maxConcurrent) {
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    } else {
      this.#active += 1;
    }
    try {
      const nowMs = performance.now();
      this.#dueAtMs =
        Math.max(this.#dueAtMs, nowMs - (burst * 1000) / perSecond) + 1000 / perSecond;
      if (this.#dueAtMs > nowMs) await wait(this.#dueAtMs - nowMs, undefined, { signal });
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#active -= 1;
      else next();
    }
  }
}
