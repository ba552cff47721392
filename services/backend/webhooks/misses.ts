/** Records webhook calls that created no run. Recording happens in the background, so that no call waits. Only each
 *  webhook's newest calls are kept. */
import { deriveTimeOrderedId } from '#domain/kernel/ids.ts';
import type { Clock } from '#domain/ports/clock.ts';
import type { Ids } from '#domain/ports/ids.ts';
import type { Queryable } from '#infra/postgres/database.ts';
import {
  storeMisses,
  type Miss,
  type StoredMiss,
} from '#infra/postgres/operations/webhook-misses.ts';
import type { Logger } from '#services/shared/logger.ts';
import { startLoop, type Loop } from '#services/shared/loop.ts';

const flushEveryMs = 500;

/** The maximum number of calls that wait to be stored individually. */
const maxWaiting = 100;
const minuteMs = 60_000;

export interface WebhookMissesDeps {
  readonly database: Queryable;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly logger: Pick<Logger, 'error'>;
}

export class WebhookMisses {
  readonly #deps: WebhookMissesDeps;
  readonly #noted = new Map<string, StoredMiss>();
  readonly #loop: Loop;

  constructor(deps: WebhookMissesDeps) {
    this.#deps = deps;
    this.#loop = startLoop({
      name: 'record webhook calls without a run',
      everyMs: flushEveryMs,
      runOnce: () => this.flush(),
      logger: deps.logger,
    });
  }

  /** Records a call without waiting. Never throws. Calls that cannot be delivered again are counted per minute. */
  note(miss: Miss): void {
    const { clock, ids } = this.#deps;
    const at = clock.now();
    const isApart = miss.payload !== undefined || miss.runId !== null;
    if (isApart && this.#noted.size < maxWaiting) {
      const deliveryId = ids.next();
      this.#noted.set(deliveryId, { ...miss, deliveryId, at, count: 1 });
      return;
    }
    const { payload: _, ...plain } = miss;
    const minute = new Date(Math.floor(at.getTime() / minuteMs) * minuteMs);
    const kind = `${miss.code} ${minute.toISOString()}`;
    const deliveryId = deriveTimeOrderedId(ids.derived(miss.webhookId, kind), minute);
    const count = (this.#noted.get(deliveryId)?.count ?? 0) + 1;
    this.#noted.set(deliveryId, { ...plain, deliveryId, at, count });
  }

  /** Stores the recorded calls. @throws on failure; the calls are then lost, as after a crash */
  async flush(): Promise<void> {
    const noted = [...this.#noted.values()];
    this.#noted.clear();
    if (noted.length === 0) return;
    await storeMisses(this.#deps.database, noted);
  }

  /** Stores the remaining calls if possible. Idempotent. */
  async close(): Promise<void> {
    await this.#loop.stop();
    await this.flush().catch((error: unknown) => {
      this.#deps.logger.error({ error }, 'webhook calls without a run were not recorded');
    });
  }
}
