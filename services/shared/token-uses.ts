/** Records the last use of API tokens in batches every few seconds. Requests do not wait for the recording, and
 *  frequent uses of a token cause few writes. */
import type { TokenId } from '#domain/kernel/ids.ts';
import type { Clock } from '#domain/ports/clock.ts';
import { noteTokenUses } from '#infra/postgres/access/token-uses.ts';
import type { Queryable } from '#infra/postgres/database.ts';
import type { Logger } from './logger.ts';
import { startLoop, type Loop } from './loop.ts';

const flushEveryMs = 30_000;

export interface TokenUsesDeps {
  readonly database: Queryable;
  readonly clock: Clock;
  readonly logger: Pick<Logger, 'error'>;
}

export class TokenUses {
  readonly #deps: TokenUsesDeps;
  readonly #used = new Set<TokenId>();
  readonly #loop: Loop;

  constructor(deps: TokenUsesDeps) {
    this.#deps = deps;
    this.#loop = startLoop({
      name: 'record token uses',
      everyMs: flushEveryMs,
      runOnce: () => this.flush(),
      logger: deps.logger,
    });
  }

  /** Buffers a use. Never waits and never throws. Memory use is limited by the number of tokens. */
  note(tokenId: TokenId): void {
    this.#used.add(tokenId);
  }

  /** Stores the buffered uses. @throws on failure, in which case the uses are lost */
  async flush(): Promise<void> {
    const used = [...this.#used];
    this.#used.clear();
    if (used.length === 0) return;
    const { database, clock } = this.#deps;
    await noteTokenUses(database, used, clock.now());
  }

  /** Tries to store the buffered uses. Idempotent. */
  async close(): Promise<void> {
    await this.#loop.stop();
    await this.flush().catch((error: unknown) => {
      this.#deps.logger.error({ error }, 'token uses were not recorded');
    });
  }
}
