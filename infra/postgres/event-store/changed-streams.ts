/** Lists streams with new events, for the WebSocket change feed. */
import { startOfStore, type Position } from '#domain/kernel/event.ts';
import type { Queryable } from '../database.ts';

const statements = {
  // The position before which no new event can become visible.
  settledEnd: `SELECT transaction_id, global_position FROM events
    WHERE transaction_id < pg_snapshot_xmin(pg_current_snapshot())
    ORDER BY transaction_id DESC, global_position DESC LIMIT 1`,
  changes: `SELECT transaction_id, global_position, stream_id,
      CASE WHEN type = 'ScriptChanged' THEN data ? 'groupId' ELSE false END AS regrouped,
      transaction_id < pg_snapshot_xmin(pg_current_snapshot()) AS settled
    FROM events WHERE (transaction_id, global_position) > ($1::xid8, $2)
    ORDER BY transaction_id, global_position LIMIT $3`,
};

interface PlaceRow {
  readonly transaction_id: string;
  readonly global_position: number;
}

interface ChangeRow extends PlaceRow {
  readonly stream_id: string;
  readonly regrouped: boolean;
  readonly settled: boolean;
}

export interface Changes {
  /** One entry for each event, oldest first. */
  readonly streams: readonly ChangedStream[];
  /** The position at which to continue, or `undefined` if there are no new events. */
  readonly end: Position | undefined;
  readonly isMore: boolean;
  /** Whether some events cannot be read yet, because an older transaction is still open. */
  readonly isHeldBack: boolean;
}

export interface ChangedStream {
  readonly streamId: string;
  /** Whether the script was moved to another group. */
  readonly regrouped: boolean;
}

/** Returns the position before which no new event can become visible. */
export async function settledEnd(db: Queryable): Promise<Position> {
  const { rows } = await db.query<PlaceRow>(statements.settledEnd);
  return rows[0] === undefined ? startOfStore : placeOf(rows[0]);
}

/** Returns at most `limit` events after a position. */
export async function changesAfter(
  db: Queryable,
  after: Position,
  limit: number,
): Promise<Changes> {
  const values = [after.transactionId.toString(), after.globalPosition, limit];
  const { rows } = await db.query<ChangeRow>(statements.changes, values);
  const settled = rows.filter((row) => row.settled);
  const last = settled.at(-1);
  return {
    streams: settled.map((row) => ({ streamId: row.stream_id, regrouped: row.regrouped })),
    end: last && placeOf(last),
    isMore: settled.length === limit,
    isHeldBack: settled.length < rows.length,
  };
}

function placeOf(row: PlaceRow): Position {
  return { transactionId: BigInt(row.transaction_id), globalPosition: row.global_position };
}
