/** When API tokens were last used: kept together, some seconds behind, so that no request waits for it and
 *  a token that is used all the time is written seldom. */
import type { TokenId } from '#domain/kernel/ids.ts';
import type { Clock } from '#domain/ports/clock.ts';
import type { Queryable } from '#infra/postgres/database.ts';
import type { Logger } from './logger.ts';
import { startLoop, type Loop } from './loop.ts';

const flushEveryMs = 30_000;

// Skips rows that are locked; the next use updates them.
const noteUses = `UPDATE api_tokens SET last_used_at = $2 WHERE token_id IN (
  SELECT token_id FROM api_tokens WHERE token_id = ANY($1::uuid[])
    AND (last_used_at IS NULL OR last_used_at < $2) FOR UPDATE SKIP LOCKED)`;

export interface TokenUsesParts {
  readonly database: Queryable;
  readonly clock: Clock;
  readonly logger: Pick<Logger, 'error'>;
}

export class TokenUses {
  readonly #parts: TokenUsesParts;
  readonly #used = new Set<TokenId>();
  readonly #loop: Loop;

  constructor(parts: TokenUsesParts) {
    this.#parts = parts;
    this.#loop = startLoop({
      name: 'note uses of tokens',
      everyMs: flushEveryMs,
      runOnce: () => this.flush(),
      logger: parts.logger,
    });
  }

  /** Never waits, never fails. There are no more than there are tokens. */
  note(tokenId: TokenId): void {
    this.#used.add(tokenId);
  }

  /** Stores what was noted. @throws when that failed; it is lost then, as it is when the process dies */
  async flush(): Promise<void> {
    const used = [...this.#used];
    this.#used.clear();
    if (used.length === 0) return;
    const { database, clock } = this.#parts;
    await database.query(noteUses, [used, clock.now()]);
  }

  /** Stores what is left, as far as that is possible; safe twice. */
  async close(): Promise<void> {
    await this.#loop.stop();
    await this.flush().catch((error: unknown) => {
      this.#parts.logger.error({ error }, 'token uses were not recorded');
    });
  }
}
