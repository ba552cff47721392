/** The response of `/auth/login` and `/auth/refresh`. */
export interface TokenAnswer {
  access_token: string;
  expires_in: number;
  /** Only in responses of `/auth/refresh`: everything that is read with the token includes the events up to this
   *  position. */
  position?: number;
}

export interface TokenKeeperPorts {
  /** Gets a new access token with the refresh cookie and the session key; null if the session has ended. */
  refresh(): Promise<TokenAnswer | null>;
  /** Runs `work` while no other tab runs exclusive work (Web Locks, if the browser supports them). */
  exclusively<T>(work: () => Promise<T>): Promise<T>;
  /** Sends a new token to the other tabs; null tells them that the session has ended. */
  announce(token: HeldToken | null): void;
  /** Called once when the session has ended and cannot be renewed. */
  onEnded(): void;
  nowMs(): number;
  random(): number;
  /** Calls `work` after `delayMs`. @returns a function that cancels the call */
  after(delayMs: number, work: () => void): () => void;
}

export interface HeldToken {
  value: string;
  expiresAtMs: number;
  position?: number | undefined;
}

/** A renewal starts one to two times this long before the token expires. Tabs that share a token must not renew it
 *  at the same time, because reusing a refresh cookie ends the session. */
const renewAheadMs = 60_000;

/** Holds the access token in memory only and renews it, one refresh at a time. */
export class TokenKeeper {
  readonly #ports: TokenKeeperPorts;
  /** Everything that this tab has read includes the events up to this position; undefined if unknown. */
  position: number | undefined;
  #hasHeld = false;
  #held: HeldToken | null = null;
  #renewal: Promise<string | null> | null = null;
  #cancelTimer: () => void = () => {};

  constructor(ports: TokenKeeperPorts) {
    this.#ports = ports;
  }

  /** The token if it has not expired, else null. */
  current(): string | null {
    if (!this.#held || this.#held.expiresAtMs <= this.#ports.nowMs()) return null;
    return this.#held.value;
  }

  /** Stores the token of a login or a refresh, and announces it to the other tabs. */
  accept(answer: TokenAnswer): string {
    const expiresAtMs = this.#ports.nowMs() + answer.expires_in * 1000;
    const held = { value: answer.access_token, expiresAtMs, position: answer.position };
    this.adopt(held);
    this.#ports.announce(held);
    return held.value;
  }

  /** Stores a token that another tab announced. */
  adopt(held: HeldToken): void {
    // Later tokens have later positions, but data may have been read with the first one.
    if (!this.#hasHeld) this.position = held.position;
    this.#hasHeld = true;
    this.#held = held;
    this.#cancelTimer();
    const aheadMs = renewAheadMs * (1 + this.#ports.random());
    const delayMs = Math.max(0, held.expiresAtMs - this.#ports.nowMs() - aheadMs);
    this.#cancelTimer = this.#ports.after(delayMs, () => {
      // A failed early renewal does not end the session: the next request tries again.
      this.renew(held.value).catch(() => {});
    });
  }

  /** Removes the token from this tab. */
  forget(): void {
    this.#held = null;
    this.#cancelTimer();
  }

  /** A token newer than `stale`. Concurrent callers share one refresh.
   *  @returns null if the session has ended
   *  @throws if the server is unreachable; the session is then unchanged */
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
      // Another tab may have renewed while this one waited for the lock.
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
