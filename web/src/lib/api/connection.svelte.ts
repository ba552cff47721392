const probeEveryMs = 3000;

/** Whether the server answers, as seen by the requests themselves and by the browser. */
class Connection {
  /** False as soon as one request found no server; true again when one was answered. */
  reachable = $state(true);
  /** When the server was last lost; null while it answers. */
  lostAt = $state.raw<Date | null>(null);
  #probe: ReturnType<typeof setInterval> | undefined;
  readonly #listeners = new Set<() => void>();

  /** Passes a request on and learns from how it goes. */
  async watch(send: () => Promise<Response>): Promise<Response> {
    const { lostAt } = this;
    try {
      const response = await send();
      // An answer that was on its way when the server was lost says nothing of now.
      if (this.lostAt === lostAt) this.#answered();
      return response;
    } catch (error) {
      if (error instanceof TypeError) this.lost();
      throw error;
    }
  }

  /** Starts asking `/livez` until it answers. */
  lost(): void {
    if (!this.reachable) return;
    this.reachable = false;
    this.lostAt = new Date();
    this.#probe = setInterval(() => void this.probe(), probeEveryMs);
  }

  /** One question to the server, now. */
  async probe(): Promise<void> {
    await this.watch(() => fetch('/livez', { cache: 'no-store' })).catch(() => {});
  }

  /** Calls `listener` each time the server is back; the answer ends that. */
  onBack(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #answered(): void {
    if (this.reachable) return;
    clearInterval(this.#probe);
    this.reachable = true;
    this.lostAt = null;
    for (const listener of this.#listeners) listener();
  }
}

export const connection = new Connection();

globalThis.addEventListener?.('offline', () => connection.lost());
globalThis.addEventListener?.('online', () => void connection.probe());
