/** Steps through events automatically. Each step starts only after the previous step is complete, even if the server is
 *  slow. */
export class Player {
  playing = $state(false);
  /** The number of events per second. */
  speed = $state(1);
  readonly #step: () => Promise<boolean>;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** @param step moves to the next event; resolves to false after the last event */
  constructor(step: () => Promise<boolean>) {
    this.#step = step;
  }

  play(): void {
    if (this.playing) return;
    this.playing = true;
    void this.#next();
  }

  /** Pauses playback. Calling it again has no effect. */
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
