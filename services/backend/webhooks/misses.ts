/** Calls of webhooks that made no run, for whoever looks at the deliveries of a webhook: noted behind the
 *  answer, so that no call waits for it, and only the newest of each webhook. */
import { inOrderOfTime } from '#domain/kernel/ids.ts';
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

/** Of calls that are to be told apart and are not stored yet. */
const maxWaiting = 100;
const minuteMs = 60_000;

export interface WebhookMissesParts {
  readonly database: Queryable;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly logger: Pick<Logger, 'error'>;
}

export class WebhookMisses {
  readonly #parts: WebhookMissesParts;
  readonly #noted = new Map<string, StoredMiss>();
  readonly #loop: Loop;

  constructor(parts: WebhookMissesParts) {
    this.#parts = parts;
    this.#loop = startLoop({
      name: 'record webhook calls without a run',
      everyMs: flushEveryMs,
      runOnce: () => this.flush(),
      logger: parts.logger,
    });
  }

  /** Never waits, never fails. Those that nobody can deliver again are counted together, minute by minute. */
  note(miss: Miss): void {
    const { clock, ids } = this.#parts;
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
    const deliveryId = inOrderOfTime(ids.derived(miss.webhookId, kind), minute);
    const count = (this.#noted.get(deliveryId)?.count ?? 0) + 1;
    this.#noted.set(deliveryId, { ...plain, deliveryId, at, count });
  }

  /** Stores what was noted. @throws when that failed; it is lost then, as it is when the process dies */
  async flush(): Promise<void> {
    const noted = [...this.#noted.values()];
    this.#noted.clear();
    if (noted.length === 0) return;
    await storeMisses(this.#parts.database, noted);
  }

  /** Stores what is left, as far as that is possible; safe twice. */
  async close(): Promise<void> {
    await this.#loop.stop();
    await this.flush().catch((error: unknown) => {
      this.#parts.logger.error({ error }, 'webhook calls without a run were not recorded');
    });
  }
}
