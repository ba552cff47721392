const probeEveryMs = 3000;

/** Whether the server is reachable, according to requests and the browser. */
class Connection {
  /** False as soon as one request fails to reach the server; true again after a response. */
  reachable = $state(true);
  /** When the connection was lost; null while the server responds. */
  lostAt = $state.raw<Date | null>(null);
  #probe: ReturnType<typeof setInterval> | undefined;
  readonly #listeners = new Set<() => void>();

  /** Sends a request and records whether the server responded. */
  async watch(send: () => Promise<Response>): Promise<Response> {
    const { lostAt } = this;
    try {
      const response = await send();
      // A response that was in transit when the connection was lost does not prove that the server is reachable.
      if (this.lostAt === lostAt) this.#answered();
      return response;
    } catch (error) {
      if (error instanceof TypeError) this.lost();
      throw error;
    }
  }

  /** Marks the server as unreachable, and polls `/livez` until it responds. */
  lost(): void {
    if (!this.reachable) return;
    this.reachable = false;
    this.lostAt = new Date();
    this.#probe = setInterval(() => void this.probe(), probeEveryMs);
  }

  /** Probes the server once, immediately. */
  async probe(): Promise<void> {
    await this.watch(() => fetch('/livez', { cache: 'no-store' })).catch(() => {});
  }

  /** Calls `listener` each time the server is reachable again. @returns a function that removes the listener */
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
