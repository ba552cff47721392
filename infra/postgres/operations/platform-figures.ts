/** Reads metrics of the queue and the event store. The queries are cheap enough to run every few seconds. */
import type { Queryable } from '../database.ts';

const statements = {
  queue: `SELECT
      count(*) FILTER (WHERE fence IS NULL AND NOT waiting)::int AS due,
      count(*) FILTER (WHERE fence IS NULL AND waiting)::int AS waiting,
      count(*) FILTER (WHERE fence IS NOT NULL)::int AS running,
      -- The clock may have been set back since.
      greatest(extract(epoch FROM now() - min(available_at) FILTER (
        WHERE fence IS NULL AND NOT waiting AND owner IS NULL)), 0)::float8 AS oldest_seconds
    FROM run_queue`,
  labels: `SELECT label,
      count(*) FILTER (WHERE fence IS NULL AND NOT waiting)::int AS due,
      count(*) FILTER (WHERE fence IS NULL AND waiting)::int AS waiting,
      count(*) FILTER (WHERE fence IS NOT NULL)::int AS running
    FROM run_queue CROSS JOIN jsonb_array_elements_text(runs_on) AS labels (label)
    WHERE runs_on <> '[]' GROUP BY label ORDER BY label`,
  store: `SELECT coalesce((SELECT max(global_position) FROM events), 0)::float8 AS position,
      pg_database_size(current_database())::float8 AS size_bytes,
      coalesce((SELECT max(extract(epoch FROM now() - xact_start)) FROM pg_stat_activity
        WHERE backend_xid IS NOT NULL), 0)::float8 AS oldest_transaction_seconds,
      (SELECT sum(numbackends) FROM pg_stat_database)::int AS connections`,
};

export interface QueueFigures {
  /** The number of runs that a runtime can claim now. */
  readonly due: number;
  /** The number of runs waiting for a concurrency slot or for their scheduled time. */
  readonly waiting: number;
  readonly running: number;
  /** How long the oldest claimable run has been due. 0 if no run is due. */
  readonly oldestSeconds: number;
}

export async function queueFigures(db: Queryable): Promise<QueueFigures> {
  const { rows } = await db.query<{
    due: number;
    waiting: number;
    running: number;
    oldest_seconds: number;
  }>(statements.queue, []);
  const [{ oldest_seconds: oldestSeconds, ...counts } = { oldest_seconds: 0, ...none }] = rows;
  return { ...counts, oldestSeconds };
}

export interface LabelFigures extends Omit<QueueFigures, 'oldestSeconds'> {
  readonly label: string;
}

/** Counts unfinished runs by each label that they require. */
export async function labelFigures(db: Queryable): Promise<readonly LabelFigures[]> {
  return (await db.query<LabelFigures>(statements.labels, [])).rows;
}

const none = { due: 0, waiting: 0, running: 0 };

export interface StoreFigures {
  /** The position of the newest event. */
  readonly position: number;
  /** The size of the whole database. */
  readonly sizeBytes: number;
  /** The age of the oldest writing transaction. 0 if none is open. */
  readonly oldestTransactionSeconds: number;
  readonly connections: number;
}

export async function storeFigures(db: Queryable): Promise<StoreFigures> {
  const { rows } = await db.query<{
    position: number;
    size_bytes: number;
    oldest_transaction_seconds: number;
    connections: number;
  }>(statements.store, []);
  const [row] = rows;
  return {
    position: row?.position ?? 0,
    sizeBytes: row?.size_bytes ?? 0,
    oldestTransactionSeconds: row?.oldest_transaction_seconds ?? 0,
    connections: row?.connections ?? 0,
  };
}
