/** Detects conditions that hide events from readers of the event store. */
import type { Queryable } from '../database.ts';

const statements = {
  // Counts the events after each checkpoint and finds the age of the oldest one. Includes events that are not visible
  // to readers yet.
  lag: `SELECT c.name,
      (SELECT count(*)::int FROM (SELECT FROM events e
        WHERE (e.transaction_id, e.global_position) > (c.transaction_id, c.global_position)
        LIMIT 10000) behind) AS events,
      coalesce((SELECT extract(epoch FROM now() - e.recorded_at) FROM events e
        WHERE (e.transaction_id, e.global_position) > (c.transaction_id, c.global_position)
        ORDER BY e.transaction_id, e.global_position LIMIT 1), 0)::float8 AS seconds
    FROM checkpoints c ORDER BY c.name`,
  // This server has not yet assigned transaction IDs at or above `xmax`, so events with such IDs come from another
  // server.
  foreign: `SELECT count(*)::int AS events FROM (SELECT FROM events
    WHERE transaction_id >= pg_snapshot_xmax(pg_current_snapshot()) LIMIT 10000) foreign_events`,
};

export interface ReaderLag {
  /** The name of the checkpoint. */
  readonly name: string;
  /** The number of unread events, counted up to 10,000. */
  readonly events: number;
  /** The age of the oldest unread event. 0 if all events were read. */
  readonly seconds: number;
}

/** Returns the lag of every reader. */
export async function readerLags(db: Queryable): Promise<readonly ReaderLag[]> {
  const { rows } = await db.query<{ name: string; events: number; seconds: number }>(
    statements.lag,
    [],
  );
  return rows.map((row) => ({ ...row, seconds: Math.max(0, row.seconds) }));
}

/** Refuses events with transaction IDs that this server has not assigned yet. Readers would not see these events, or
 *  any later ones, for a very long time.
 *  @throws Error with a message for the operator */
export async function refuseForeignEvents(db: Queryable): Promise<void> {
  const { rows } = await db.query<{ events: number }>(statements.foreign, []);
  const count = rows[0]?.events ?? 0;
  if (count === 0) return;
  throw new Error(
    `${count === 10_000 ? 'At least 10000' : count} events have transaction IDs that another server assigned, ` +
      'usually because rows were copied. Readers cannot see these events. Rewrite the IDs in order with renumberEvents.',
  );
}
