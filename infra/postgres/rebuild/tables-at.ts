/** Builds read tables as of a point in time from the history. They exist for a single request. */
import type { Recorded } from '#domain/aggregates.ts';
import { startOfStore } from '#domain/kernel/event.ts';
import { applyAll, type Projection, type ReadModels } from '#projections/projection.ts';
import type pg from 'pg';
import { openDatabase, queryBuilderOn } from '../database.ts';
import { recorded, type EventRow } from '../event-store/event-store.ts';
import { boundsOf, type Moment } from '../event-store/streams-at.ts';
import { makeOwnCopy } from './shadow-tables.ts';

const pageSize = 2_000;

const page = `SELECT * FROM events
  WHERE (transaction_id, global_position) > ($1::xid8, $2) AND type = ANY($3)
    AND stream_id NOT LIKE ALL ($4)
    AND global_position <= coalesce($5::bigint, global_position)
    AND recorded_at <= coalesce($6::timestamptz, recorded_at)
  ORDER BY transaction_id, global_position LIMIT ${pageSize}`;

export interface TablesAt {
  /** The projections whose tables are built. Other tables keep their current content. */
  readonly projections: readonly Projection[];
  readonly moment: Moment;
  /** Stream types, such as `run`, whose events do not affect the requested tables. */
  readonly without: readonly string[];
}

/** Runs `work` with tables as of a point in time. The tables are temporary and hide the current tables of the same
 *  names. Each statement is a separate transaction, because a long transaction would block every reader of the event
 *  store.
 *  @param pool provides the database URL */
export async function withTablesAt<Result>(
  pool: pg.Pool,
  past: TablesAt,
  work: (db: ReadModels) => Promise<Result>,
): Promise<Result> {
  const own = openDatabase(pool.options.connectionString ?? '', {
    connections: 1,
    applicationName: 'past',
    onIdleError: () => undefined,
  });
  try {
    const client = await own.pool.connect();
    try {
      return await onTablesAt(client, past, work);
    } finally {
      client.release(true);
    }
  } finally {
    await own.close();
  }
}

async function onTablesAt<Result>(
  client: pg.PoolClient,
  { projections, moment, without }: TablesAt,
  work: (db: ReadModels) => Promise<Result>,
): Promise<Result> {
  for (const table of projections.flatMap(({ tables }) => tables)) {
    await makeOwnCopy(client, table);
  }
  const db = queryBuilderOn<never>(client) as unknown as ReadModels;
  const types = [...new Set(projections.flatMap(({ handles }) => handles))];
  const others = without.map((type) => `${type}-%`);
  for (let place = startOfStore, size = pageSize; size === pageSize;) {
    const { rows } = await client.query<EventRow>(page, [
      place.transactionId.toString(),
      place.globalPosition,
      types,
      others,
      ...boundsOf(moment),
    ]);
    const events = rows.map(recorded) as readonly Recorded[];
    await applyAll(projections, db, events);
    place = events.at(-1)?.position ?? place;
    size = events.length;
  }
  return await work(db);
}
