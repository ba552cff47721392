/** Steps through events automatically. Waits for each step, even if the server is slow. */
export class Player {
  playing = $state(false);
  /** Events per second. */
  speed = $state(1);
  readonly #step: () => Promise<boolean>;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** @param step moves to the next event; false after the last event */
  constructor(step: () => Promise<boolean>) {
    this.#step = step;
  }

  play(): void {
    if (this.playing) return;
    this.playing = true;
    void this.#next();
  }

  /** Idempotent. */
  pause(): void {
    this.playing = false;
    clearTimeout(this.#timer);
  }

  async #next(): Promise<void> {
    const startedMs = performance.now();
    const isMore = await this.#step().catch(() => false);
    if (!isMore) return this.pause();
    if (!this.playing) return;
    const restMs = Math.max(0, 1000 / this.speed - (performance.now() - startedMs));
    this.#timer = setTimeout(() => void this.#next(), restMs);
  }
}
