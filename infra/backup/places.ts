/** The places that restored events get: in their order, below every transaction that there was. */
import { startOfStore, type Position } from '#domain/kernel/event.ts';
import type { Queryable } from '#infra/postgres/database.ts';

/** Events that share a transaction id; more if there are too few ids. */
const usualShare = 1_000;

export interface Places {
  /** Events that share a transaction id, of which the first is 1. */
  readonly share: number;
  /** The id of the caller's transaction, which follows all of them. */
  readonly transactionId: bigint;
  /** Of the event with this number, from 1 on; 0 is the start of the store. */
  of(number: number): Position;
}

/** @param events how many there are. They do not get one id for all: the planner of the database would take
 *  any part of them for nothing */
export async function placesFor(db: Queryable, events: number): Promise<Places> {
  const { rows } = await db.query<{ id: string }>('SELECT pg_current_xact_id()::text AS id');
  const transactionId = BigInt(rows[0]?.id ?? 0);
  const share = Math.max(usualShare, Math.ceil(events / (Number(transactionId) - 1)));
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
