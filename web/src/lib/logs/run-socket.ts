import type { LogLine, Run, RunSample, RunStatus } from '../api/types.ts';
import { parseFrame, type RunFrame } from './frames.ts';

/** How the live connection stands; `waiting` tells when the next attempt starts. */
export type LinkState =
  | { state: 'connecting' }
  | { state: 'live' }
  | { state: 'waiting'; retryAtMs: number }
  | { state: 'ended' }
  | { state: 'refused'; code: number };

/** What the connection needs of a WebSocket. */
export interface Socket {
  onopen: ((event: never) => void) | null;
  onmessage: ((event: { data: string }) => void) | null;
  onclose: ((event: { code: number }) => void) | null;
  close(): void;
}

export interface RunSocketPorts {
  /** Opens `/ws/runs/{run_id}` at `fromSeq`. */
  open(fromSeq: number, token: string): Socket;
  /** A token newer than `stale`; null when the session is over. */
  token(stale: string | null): Promise<string | null>;
  nowMs(): number;
  after(delayMs: number, work: () => void): () => void;
  random(): number;
}

export interface RunSocketEvents {
  onLines(lines: LogLine[]): void;
  onRun(run: Run): void;
  onSample(sample: RunSample): void;
  onEnd(status: RunStatus): void;
  onLink(link: LinkState): void;
}

const firstDelayMs = 500;
const maxDelayMs = 15_000;
/** Close codes of the contract; the token's is renewed, the others are final. */
const tokenRefused = 4401;
const finalCodes = new Set([4403, 4404]);

/** Follows one run: reconnects with backoff from the line after the last one seen, so that its
 *  listener sees every line once. */
export class RunSocket {
  readonly #ports: RunSocketPorts;
  readonly #events: RunSocketEvents;
  #nextSeq: number;
  #socket: Socket | null = null;
  #token: string | null = null;
  #tokenIsStale = false;
  #failures = 0;
  #closed = false;
  #cancelRetry: () => void = () => {};

  constructor(fromSeq: number, ports: RunSocketPorts, events: RunSocketEvents) {
    this.#nextSeq = fromSeq;
    this.#ports = ports;
    this.#events = events;
  }

  /** Connects now; also cuts a backoff short, as when the network is back. */
  async connect(): Promise<void> {
    this.#cancelRetry();
    if (this.#closed || this.#socket) return;
    this.#events.onLink({ state: 'connecting' });
    const token = await this.#freshToken();
    // `close` or another `connect` may have come while the token was on its way.
    if (this.#closed || this.#socket || token === undefined) return;
    if (token === null) return this.#finish({ state: 'refused', code: tokenRefused });
    this.#token = token;
    this.#listen(this.#ports.open(this.#nextSeq, token));
  }

  /** Ends the connection for good. Safe to call twice. */
  close(): void {
    this.#closed = true;
    this.#cancelRetry();
    const socket = this.#socket;
    this.#socket = null;
    socket?.close();
  }

  /** undefined: the server cannot be reached, and a retry is planned. */
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
    socket.onopen = () => this.#events.onLink({ state: 'live' });
    socket.onmessage = (message) => {
      if (this.#socket !== socket) return;
      const frame = parseFrame(message.data);
      if (frame) this.#take(frame);
    };
    socket.onclose = ({ code }) => {
      if (this.#socket !== socket) return;
      this.#socket = null;
      this.#onClose(code);
    };
  }

  #take(frame: RunFrame): void {
    this.#failures = 0;
    this.#tokenIsStale = false;
    switch (frame.type) {
      case 'log':
        return this.#takeLines(frame.items);
      case 'status':
        return this.#events.onRun(frame.run);
      case 'sample':
        return this.#events.onSample(frame);
      case 'end':
        this.#events.onEnd(frame.status);
        return this.#finish({ state: 'ended' });
    }
  }

  #takeLines(items: LogLine[]): void {
    const fresh = items.filter((line) => line.seq >= this.#nextSeq);
    const last = fresh.at(-1);
    if (!last) return;
    this.#nextSeq = Math.max(last.seq, last.to_seq ?? 0) + 1;
    this.#events.onLines(fresh);
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
