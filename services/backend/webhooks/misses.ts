/** Calls of webhooks that made no run, for whoever looks at the deliveries of a webhook: noted behind the
 *  answer, so that no call waits for it, and only the newest of each webhook. */
import { inOrderOfTime } from '#domain/kernel/ids.ts';
import type { Clock } from '#domain/ports/clock.ts';
import type { Ids } from '#domain/ports/ids.ts';
import type { Queryable } from '#infra/postgres/database.ts';
import type { Logger } from '#services/shared/logger.ts';
import { startLoop, type Loop } from '#services/shared/loop.ts';

const flushEveryMs = 500;
const keptOfWebhook = 200;
/** Of calls that are to be told apart and are not stored yet. */
const maxWaiting = 100;
const minuteMs = 60_000;

const statements = {
  note: `INSERT INTO webhook_misses AS m (delivery_id, webhook_id, time, code, status, run_id, ip,
      size_bytes, count, payload)
    SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::timestamptz[], $4::text[], $5::integer[], $6::uuid[],
      $7::text[], $8::integer[], $9::integer[], $10::bytea[])
    ON CONFLICT (delivery_id) DO UPDATE SET time = excluded.time, ip = excluded.ip,
      size_bytes = excluded.size_bytes, count = m.count + excluded.count`,
  trim: `DELETE FROM webhook_misses m USING unnest($1::uuid[]) AS noted (webhook_id)
    WHERE m.webhook_id = noted.webhook_id AND m.delivery_id < (
      SELECT delivery_id FROM webhook_misses n WHERE n.webhook_id = noted.webhook_id
      ORDER BY delivery_id DESC OFFSET ${keptOfWebhook - 1} LIMIT 1)`,
};

export interface Miss {
  readonly webhookId: string;
  /** Why it was refused; `null` for a repetition of the call that made `runId`. */
  readonly code: string | null;
  /** Of the answer. */
  readonly status: number;
  readonly runId: string | null;
  readonly ip: string;
  /** Of the body, as far as it was read. */
  readonly sizeBytes: number | null;
  /** Headers and body, where it may be delivered again. */
  readonly payload?: Uint8Array;
}

interface Noted extends Miss {
  readonly deliveryId: string;
  readonly at: Date;
  readonly count: number;
}

export interface WebhookMissesParts {
  readonly database: Queryable;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly logger: Pick<Logger, 'error'>;
}

export class WebhookMisses {
  readonly #parts: WebhookMissesParts;
  readonly #noted = new Map<string, Noted>();
  readonly #loop: Loop;

  constructor(parts: WebhookMissesParts) {
    this.#parts = parts;
    this.#loop = startLoop({
      name: 'note calls of webhooks that made no run',
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
    const { database } = this.#parts;
    const column = <Value>(valueOf: (one: Noted) => Value) => noted.map(valueOf);
    await database.query(statements.note, [
      column((one) => one.deliveryId),
      column((one) => one.webhookId),
      column((one) => one.at),
      column((one) => one.code),
      column((one) => one.status),
      column((one) => one.runId),
      column((one) => one.ip),
      column((one) => one.sizeBytes),
      column((one) => one.count),
      column((one) => (one.payload === undefined ? null : Buffer.from(one.payload))),
    ]);
    await database.query(statements.trim, [[...new Set(column((one) => one.webhookId))]]);
  }

  /** Stores what is left, as far as that is possible; safe twice. */
  async close(): Promise<void> {
    await this.#loop.stop();
    await this.flush().catch((error: unknown) => {
      this.#parts.logger.error({ error }, 'calls of webhooks that made no run were not noted');
    });
  }
}
