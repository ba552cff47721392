/** Checks whether readers have reached a given event. */
import { isAfter, type Position } from '#domain/kernel/event.ts';
import type { Queryable } from '../database.ts';
import { readCheckpoint } from '../readers/checkpoints.ts';

const statements = {
  // Events that become visible after this statement have a transaction ID at or above the horizon.
  issued: `SELECT is_called AND last_value >= $1 AS issued,
      pg_snapshot_xmin(pg_current_snapshot()) AS horizon
    FROM events_global_position_seq`,
  arrived: `SELECT EXISTS (SELECT FROM events
    WHERE transaction_id >= $1::xid8 AND global_position >= $2) AS arrived`,
  // Searches only events that the reader has not read yet. There are few, unless the reader lags far behind.
  ahead: `SELECT transaction_id FROM events
    WHERE (transaction_id, global_position) > ($1::xid8, $2) AND global_position = $3`,
};

const pollEveryMs = 25;

export interface AwaitedPosition {
  /** The position returned by the write. */
  readonly globalPosition: number;
  /** The checkpoint names of the readers that must reach the position. */
  readonly readers: readonly string[];
  readonly timeoutMs: number;
  /** Aborts the wait when the caller disconnects. */
  readonly gone: AbortSignal;
}

/** Waits until the event at a position can be read and all given readers have reached it. A position whose transaction
 *  was rolled back counts as reached.
 *  @returns false after the timeout, or if the caller disconnected */
export async function positionReached(db: Queryable, awaited: AwaitedPosition): Promise<boolean> {
  const { globalPosition, readers } = awaited;
  const isInTime = polling(awaited);
  const { rows } = await db.query<{ issued: boolean; horizon: string }>(statements.issued, [
    globalPosition,
  ]);
  const [{ issued, horizon } = { issued: false, horizon: '0' }] = rows;
  // Callers receive a position only after the commit, so a missing event was rolled back.
  const isThere = issued || (await isInTime(() => hasArrived(db, horizon, globalPosition)));
  if (!isThere) return false;
  for (const reader of readers) {
    const place = await placeAhead(db, reader, globalPosition);
    const hasPassed = async () =>
      place === undefined || !isAfter(place, await readCheckpoint(db, reader));
    if (!(await isInTime(hasPassed))) return false;
  }
  return true;
}

/** Polls a condition until the condition holds or the timeout expires. */
function polling({ timeoutMs, gone }: AwaitedPosition) {
  const deadlineMs = performance.now() + timeoutMs;
  return async (condition: () => Promise<boolean>): Promise<boolean> => {
    while (!(await condition())) {
      if (performance.now() > deadlineMs || gone.aborted) return false;
      await new Promise((resolve) => setTimeout(resolve, pollEveryMs));
    }
    return true;
  };
}

/** Whether a position was assigned, even if its event was rolled back. */
export async function positionIssued(db: Queryable, globalPosition: number): Promise<boolean> {
  const { rows } = await db.query<{ issued: boolean }>(statements.issued, [globalPosition]);
  return globalPosition === 0 || rows[0]?.issued === true;
}

async function hasArrived(db: Queryable, horizon: string, position: number): Promise<boolean> {
  const { rows } = await db.query<{ arrived: boolean }>(statements.arrived, [horizon, position]);
  return rows[0]?.arrived === true;
}

/** Returns the complete position of an event that a reader has not reached yet. */
async function placeAhead(
  db: Queryable,
  reader: string,
  globalPosition: number,
): Promise<Position | undefined> {
  const { transactionId, globalPosition: passed } = await readCheckpoint(db, reader);
  const { rows } = await db.query<{ transaction_id: string }>(statements.ahead, [
    transactionId.toString(),
    passed,
    globalPosition,
  ]);
  const [row] = rows;
  return row && { transactionId: BigInt(row.transaction_id), globalPosition };
}
