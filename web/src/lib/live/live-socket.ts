/** The state of a live connection. `waiting` contains the time of the next attempt. */
export type LinkState =
  | { state: 'connecting' }
  | { state: 'live' }
  | { state: 'waiting'; retryAtMs: number }
  | { state: 'ended' }
  | { state: 'refused'; code: number };

/** The part of the WebSocket interface that live connections use. */
export interface Socket {
  onopen: ((event: never) => void) | null;
  onmessage: ((event: { data: string }) => void) | null;
  onclose: ((event: { code: number }) => void) | null;
  close(): void;
}

export interface LivePorts {
  /** Returns a token newer than `stale`, or null if the session has ended. */
  token(stale: string | null): Promise<string | null>;
  nowMs(): number;
  /** Schedules `work` to run after `delayMs`. @returns a function that cancels the call */
  after(delayMs: number, work: () => void): () => void;
  random(): number;
}

export interface LiveSocketPorts extends LivePorts {
  open(token: string): Socket;
}

export interface LiveSocketEvents {
  onText(text: string): void;
  onLink(link: LinkState): void;
}

const firstDelayMs = 500;
const maxDelayMs = 15_000;
/** Close codes of the API. After 4401, the token is renewed; the other codes are final. */
const tokenRefused = 4401;
const finalCodes = new Set([4403, 4404]);

/** A WebSocket that reconnects automatically with backoff. If the server refuses the token, it reconnects with a new
 *  token. */
export class LiveSocket {
  readonly #ports: LiveSocketPorts;
  readonly #events: LiveSocketEvents;
  readonly #maxSilenceMs: number | null;
  #socket: Socket | null = null;
  #token: string | null = null;
  #tokenIsStale = false;
  #failures = 0;
  #closed = false;
  #cancelRetry: () => void = () => {};
  #cancelWatch: () => void = () => {};

  /** @param maxSilenceMs the connection is considered dead if it receives no frame for this long; null disables this
   *  check */
  constructor(ports: LiveSocketPorts, events: LiveSocketEvents, maxSilenceMs: number | null) {
    this.#ports = ports;
    this.#events = events;
    this.#maxSilenceMs = maxSilenceMs;
  }

  /** Connects immediately, even during a backoff, for example after the network has recovered. */
  async connect(): Promise<void> {
    this.#cancelRetry();
    if (this.#closed || this.#socket) return;
    this.#events.onLink({ state: 'connecting' });
    const token = await this.#freshToken();
    // `close` or `connect` may have been called again while this call waited for the token.
    if (this.#closed || this.#socket || token === undefined) return;
    if (token === null) return this.#finish({ state: 'refused', code: tokenRefused });
    this.#token = token;
    this.#listen(this.#ports.open(token));
  }

  /** Closes the connection permanently. Calling it again has no effect. */
  close(): void {
    this.#closed = true;
    this.#cancelRetry();
    this.#drop();
  }

  /** Closes the connection permanently after its last frame. */
  end(): void {
    this.#finish({ state: 'ended' });
  }

  /** Returns undefined if the server is unreachable. A retry is then already scheduled. */
  async #freshToken(): Promise<string | null | undefined> {
    try {
      return await this.#ports.token(this.#tokenIsStale ? this.#token : null);
    } catch {
      if (!this.#closed) this.#retryLater();
      return undefined;
    }
  }

  #listen(socket: Socket): void {
    this.#socket = socket;
    this.#watch();
    socket.onopen = () => this.#events.onLink({ state: 'live' });
    socket.onmessage = ({ data }) => {
      if (this.#socket !== socket) return;
      this.#failures = 0;
      this.#tokenIsStale = false;
      this.#watch();
      this.#events.onText(data);
    };
    socket.onclose = ({ code }) => {
      if (this.#socket !== socket) return;
      this.#drop();
      this.#onClose(code);
    };
  }

  #watch(): void {
    this.#cancelWatch();
    if (this.#maxSilenceMs === null) return;
    this.#cancelWatch = this.#ports.after(this.#maxSilenceMs, () => {
      this.#drop();
      this.#retryLater();
    });
  }

  #drop(): void {
    this.#cancelWatch();
    const socket = this.#socket;
    this.#socket = null;
    socket?.close();
  }

  #onClose(code: number): void {
    if (finalCodes.has(code)) return this.#finish({ state: 'refused', code });
    if (code === tokenRefused && !this.#tokenIsStale) {
      this.#tokenIsStale = true;
      void this.connect();
      return;
    }
    this.#retryLater();
  }

  #retryLater(): void {
    const ceilingMs = Math.min(maxDelayMs, firstDelayMs * 2 ** this.#failures);
    this.#failures += 1;
    const delayMs = ceilingMs * (0.5 + this.#ports.random() / 2);
    this.#events.onLink({ state: 'waiting', retryAtMs: this.#ports.nowMs() + delayMs });
    this.#cancelRetry = this.#ports.after(delayMs, () => void this.connect());
  }

  #finish(link: LinkState): void {
    this.close();
    this.#events.onLink(link);
  }
}
