/** The newest event, and whether readers have come that far. */
import { startOfStore, type Position } from '#domain/kernel/event.ts';
import { readCheckpoint } from '#infra/postgres/checkpoints.ts';
import type { Queryable } from '#infra/postgres/database.ts';

const read = `SELECT transaction_id, global_position FROM events
  ORDER BY transaction_id DESC, global_position DESC LIMIT 1`;

/** Place of the newest event. */
export async function newestPosition(db: Queryable): Promise<Position> {
  const { rows } = await db.query<{ transaction_id: string; global_position: number }>(read, []);
  const [row] = rows;
  return row === undefined
    ? startOfStore
    : { transactionId: BigInt(row.transaction_id), globalPosition: row.global_position };
}

const lookEveryMs = 50;

/** Waits until a reader of the store has seen every event that there is now.
 *  @param name of the reader's checkpoint
 *  @returns false when it has not within `patienceMs`, or the client has gone */
export async function readerCaughtUp(
  db: Queryable,
  name: string,
  patienceMs: number,
  gone: AbortSignal,
): Promise<boolean> {
  const newest = await newestPosition(db);
  const deadlineMs = performance.now() + patienceMs;
  while (!isAtLeast(await readCheckpoint(db, name), newest)) {
    if (performance.now() > deadlineMs || gone.aborted) return false;
    await new Promise((resolve) => setTimeout(resolve, lookEveryMs));
  }
  return true;
}

function isAtLeast(one: Position, other: Position): boolean {
  return one.transactionId === other.transactionId
    ? one.globalPosition >= other.globalPosition
    : one.transactionId > other.transactionId;
}
