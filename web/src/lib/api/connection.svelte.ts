const probeEveryMs = 3000;

/** Tracks whether the server is reachable, based on request outcomes and the browser's online state. */
class Connection {
  /** Becomes false when a request cannot reach the server, and true after the next response. */
  reachable = $state(true);
  /** The time at which the connection was lost, or null while the server is reachable. */
  lostAt = $state.raw<Date | null>(null);
  #probe: ReturnType<typeof setInterval> | undefined;
  readonly #listeners = new Set<() => void>();

  /** Sends a request and records whether the server responded. */
  async watch(send: () => Promise<Response>): Promise<Response> {
    const { lostAt } = this;
    try {
      const response = await send();
      // Ignores a response that was already in transit when the connection was lost, because it does not prove that the
      // server is reachable.
      if (this.lostAt === lostAt) this.#answered();
      return response;
    } catch (error) {
      if (error instanceof TypeError) this.lost();
      throw error;
    }
  }

  /** Marks the server as unreachable and polls `/livez` until the server responds. */
  lost(): void {
    if (!this.reachable) return;
    this.reachable = false;
    this.lostAt = new Date();
    this.#probe = setInterval(() => void this.probe(), probeEveryMs);
  }

  /** Probes the server once, without waiting for the next poll. */
  async probe(): Promise<void> {
    await this.watch(() => fetch('/livez', { cache: 'no-store' })).catch(() => {});
  }

  /** Calls `listener` each time the server becomes reachable again. @returns a function that removes the listener */
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
