/** The response of `/auth/login` and `/auth/refresh`. */
export interface TokenAnswer {
  access_token: string;
  expires_in: number;
  /** Set only in responses of `/auth/refresh`. Everything read with the token includes the events up to this
   *  position. */
  position?: number;
}

export interface TokenKeeperPorts {
  /** Gets a new access token with the refresh cookie and the session key. Returns null if the session has ended. */
  refresh(): Promise<TokenAnswer | null>;
  /** Runs `work` exclusively across all tabs, if the browser supports Web Locks. */
  exclusively<T>(work: () => Promise<T>): Promise<T>;
  /** Sends a new token to the other tabs. Null means that the session has ended. */
  announce(token: HeldToken | null): void;
  /** Called once, when the session has ended. */
  onEnded(): void;
  nowMs(): number;
  random(): number;
  /** Schedules `work` to run after `delayMs`. @returns a function that cancels the call */
  after(delayMs: number, work: () => void): () => void;
}

export interface HeldToken {
  value: string;
  expiresAtMs: number;
  position?: number | undefined;
}

/** The token is renewed between one and two of these intervals before it expires. The time is random, because tabs that
 *  share a token must not renew it simultaneously. Reusing a refresh cookie ends the session. */
const renewAheadMs = 60_000;

/** Keeps the access token in memory only and renews it, with one refresh at a time. */
export class TokenKeeper {
  readonly #ports: TokenKeeperPorts;
  /** Everything that this tab has read includes the events up to this position, or undefined if the position is
   *  unknown. */
  position: number | undefined;
  #hasHeld = false;
  #held: HeldToken | null = null;
  #renewal: Promise<string | null> | null = null;
  #cancelTimer: () => void = () => {};

  constructor(ports: TokenKeeperPorts) {
    this.#ports = ports;
  }

  /** Returns the token, or null if none exists or it has expired. */
  current(): string | null {
    if (!this.#held || this.#held.expiresAtMs <= this.#ports.nowMs()) return null;
    return this.#held.value;
  }

  /** Stores the token of a sign-in or a refresh, and announces it to the other tabs. */
  accept(answer: TokenAnswer): string {
    const expiresAtMs = this.#ports.nowMs() + answer.expires_in * 1000;
    const held = { value: answer.access_token, expiresAtMs, position: answer.position };
    this.adopt(held);
    this.#ports.announce(held);
    return held.value;
  }

  /** Stores a token that another tab has announced. */
  adopt(held: HeldToken): void {
    // Keeps the position of the first token, because data may have been read with it. Later tokens have later
    // positions.
    if (!this.#hasHeld) this.position = held.position;
    this.#hasHeld = true;
    this.#held = held;
    this.#cancelTimer();
    const aheadMs = renewAheadMs * (1 + this.#ports.random());
    const delayMs = Math.max(0, held.expiresAtMs - this.#ports.nowMs() - aheadMs);
    this.#cancelTimer = this.#ports.after(delayMs, () => {
      // A failed early renewal does not end the session, because the next request tries again.
      this.renew(held.value).catch(() => {});
    });
  }

  /** Removes the token from the memory of this tab. */
  forget(): void {
    this.#held = null;
    this.#cancelTimer();
  }

  /** Returns a token newer than `stale`. Concurrent callers share one refresh.
   *  @returns null if the session has ended
   *  @throws if the server is unreachable; the session stays valid */
  renew(stale: string | null): Promise<string | null> {
    const current = this.current();
    if (current && current !== stale) return Promise.resolve(current);
    this.#renewal ??= this.#refresh(stale).finally(() => {
      this.#renewal = null;
    });
    return this.#renewal;
  }

  #refresh(stale: string | null): Promise<string | null> {
    return this.#ports.exclusively(async () => {
      // Another tab may have renewed the token while this tab waited for the lock.
      const current = this.current();
      if (current && current !== stale) return current;
      const answer = await this.#ports.refresh();
      if (answer) return this.accept(answer);
      this.forget();
      this.#ports.onEnded();
      return null;
    });
  }
}
