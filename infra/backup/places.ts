/** Assigns positions to restored events. The events keep their original order, and their transaction IDs are lower than
 *  the restore's own transaction ID. */
import { startOfStore, type Position } from '#domain/kernel/event.ts';
import type { Queryable } from '#infra/postgres/database.ts';

/** The number of events per transaction ID, unless the available IDs require a higher number. */
const defaultShare = 1_000;

export interface Places {
  /** The number of events per transaction ID. The first transaction ID is 1. */
  readonly share: number;
  /** The caller's transaction ID, which is higher than all assigned IDs. */
  readonly transactionId: bigint;
  /** The position of an event by its number, starting at 1. Number 0 returns the start of the store. */
  of(number: number): Position;
}

/** Spreads the events over several transaction IDs. With a single ID, the query planner would estimate every range of
 *  IDs as empty.
 *  @param events the number of events */
export async function placesFor(db: Queryable, events: number): Promise<Places> {
  const { rows } = await db.query<{ id: string }>('SELECT pg_current_xact_id()::text AS id');
  const transactionId = BigInt(rows[0]?.id ?? 0);
  const share = Math.max(defaultShare, Math.ceil(events / (Number(transactionId) - 1)));
  return {
    share,
    transactionId,
    of: (number) =>
      number === 0
        ? startOfStore
        : {
            transactionId: BigInt(1 + Math.floor((number - 1) / share)),
            globalPosition: number,
          },
  };
}
