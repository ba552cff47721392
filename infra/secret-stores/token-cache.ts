/** Caches tokens from AppRole sign-ins, in memory only. */
import { systemClock } from '#infra/system/clock.ts';
import type { Clock } from '#domain/ports/clock.ts';

/** How many seconds before its expiry a token is replaced. */
const marginSeconds = 30;
const maxTokens = 100;

export class TokenCache {
  readonly #clock: Clock;
  readonly #tokens = new Map<string, { readonly token: string; readonly endsAtMs: number }>();

  constructor(clock: Clock = systemClock) {
    this.#clock = clock;
  }

  get(key: string): string | undefined {
    const cached = this.#tokens.get(key);
    return cached !== undefined && cached.endsAtMs > this.#nowMs() ? cached.token : undefined;
  }

  /** @param seconds how long the token is valid. 0 if it never expires */
  set(key: string, token: string, seconds: number): void {
    const endsAtMs = seconds === 0 ? Infinity : this.#nowMs() + (seconds - marginSeconds) * 1000;
    this.#tokens.delete(key);
    this.#tokens.set(key, { token, endsAtMs });
    const [oldest = ''] = this.#tokens.keys();
    if (this.#tokens.size > maxTokens) this.#tokens.delete(oldest);
  }

  delete(key: string): void {
    this.#tokens.delete(key);
  }

  #nowMs(): number {
    return this.#clock.now().getTime();
  }
}
