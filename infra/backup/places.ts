/** Assigns positions to restored events: in their original order, with transaction IDs below the transaction ID of
 *  the restore. */
import { startOfStore, type Position } from '#domain/kernel/event.ts';
import type { Queryable } from '#infra/postgres/database.ts';

/** The number of events that share a transaction ID; more if too few IDs are available. */
const defaultShare = 1_000;

export interface Places {
  /** The number of events that share a transaction ID. The first ID is 1. */
  readonly share: number;
  /** The ID of the caller's transaction, which is greater than all of these IDs. */
  readonly transactionId: bigint;
  /** The position of the event with this number, from 1; 0 is the start of the store. */
  of(number: number): Position;
}

/** @param events number of events. The events do not all share one ID, because the planner would then estimate every
 *  range of IDs as empty */
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
