/** What `/auth/login` and `/auth/refresh` answer. */
export interface TokenAnswer {
  access_token: string;
  expires_in: number;
}

export interface TokenKeeperPorts {
  /** Asks for a new access token by the refresh cookie and the session's key; null when the session is over. */
  refresh(): Promise<TokenAnswer | null>;
  /** Runs `work` while no other tab does the same (Web Locks, where the browser has them). */
  exclusively<T>(work: () => Promise<T>): Promise<T>;
  /** Tells the other tabs of a new token, or of its end (null). */
  announce(token: HeldToken | null): void;
  /** Called once when the session has ended and cannot be renewed. */
  onEnded(): void;
  nowMs(): number;
  random(): number;
  /** Calls `work` after `delayMs`; the answer cancels it. */
  after(delayMs: number, work: () => void): () => void;
}

export interface HeldToken {
  value: string;
  expiresAtMs: number;
}

/** A renewal starts one to two times this long before the token expires: tabs that share a token
 *  must not renew it in the same moment, as a refresh cookie that is used twice ends the session. */
const renewAheadMs = 60_000;

/** Holds the access token in memory only and renews it, one refresh at a time. */
export class TokenKeeper {
  readonly #ports: TokenKeeperPorts;
  #held: HeldToken | null = null;
  #renewal: Promise<string | null> | null = null;
  #cancelTimer: () => void = () => {};

  constructor(ports: TokenKeeperPorts) {
    this.#ports = ports;
  }

  /** The token if it is still good, else null. */
  current(): string | null {
    if (!this.#held || this.#held.expiresAtMs <= this.#ports.nowMs()) return null;
    return this.#held.value;
  }

  /** Takes the answer of a login or a refresh and tells the other tabs. */
  accept(answer: TokenAnswer): string {
    const expiresAtMs = this.#ports.nowMs() + answer.expires_in * 1000;
    const held = { value: answer.access_token, expiresAtMs };
    this.adopt(held);
    this.#ports.announce(held);
    return held.value;
  }

  /** Takes a token that another tab announced. */
  adopt(held: HeldToken): void {
    this.#held = held;
    this.#cancelTimer();
    const aheadMs = renewAheadMs * (1 + this.#ports.random());
    const delayMs = Math.max(0, held.expiresAtMs - this.#ports.nowMs() - aheadMs);
    this.#cancelTimer = this.#ports.after(delayMs, () => {
      // A failed early renewal is no end: the next request tries again.
      this.renew(held.value).catch(() => {});
    });
  }

  /** Forgets the token in this tab. */
  forget(): void {
    this.#held = null;
    this.#cancelTimer();
  }

  /** A token newer than `stale`. All callers of one moment share one refresh.
   *  @returns null when the session is over
   *  @throws when the server cannot be reached; the session then stays as it is */
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
