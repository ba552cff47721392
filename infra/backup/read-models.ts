/** Fills every read model in an empty database from the events that the caller's transaction inserted. */
import type { Recorded } from '#domain/aggregates.ts';
import { startOfStore, type Position } from '#domain/kernel/event.ts';
import { setCheckpoint } from '#infra/postgres/readers/checkpoints.ts';
import { queryBuilderOn } from '#infra/postgres/database.ts';
import { readContinued } from '#infra/postgres/event-store/event-chunks.ts';
import { readTypes } from '#infra/postgres/event-store/event-store.ts';
import { replaceVersion } from '#infra/postgres/rebuild/projection-versions.ts';
import { applyAll, fillOf, type Projection, type ReadModels } from '#projections/projection.ts';
import type pg from 'pg';
import type { Places } from './places.ts';

const batchSize = 2_000;
const chunkSize = 20_000;

export interface Projections {
  readonly inline: readonly Projection[];
  readonly async: readonly Projection[];
}

/** The restored events, and the events that the transaction appended after them. */
export interface Loaded {
  readonly places: Places;
  readonly loaded: number;
  readonly added: number;
}

/** @param events the number of events
 *  @param onProgress receives the progress from 0 to 1 */
export async function fillReadModels(
  client: pg.PoolClient,
  { inline, async }: Projections,
  events: Loaded,
  onProgress: (share: number) => Promise<void>,
): Promise<void> {
  const { transactionId } = events.places;
  const end: Position = { transactionId, globalPosition: events.loaded + events.added };
  const all = [...inline, ...async];
  for (const [index, projection] of all.entries()) {
    await fillOne(client, projection, events, end);
    await replaceVersion(client, projection);
    if (async.includes(projection)) {
      await setCheckpoint(client, projection.name, projection.version, end);
    }
    for (const table of projection.tables) await client.query(`ANALYZE ${table}`);
    await onProgress((index + 1) / all.length);
  }
}

async function fillOne(
  client: pg.PoolClient,
  projection: Projection,
  { places, loaded }: Loaded,
  end: Position,
): Promise<void> {
  const db = queryBuilderOn<never>(client) as unknown as ReadModels;
  const fill = fillOf(projection);
  if (fill === undefined) {
    await applyFrom(client, db, projection);
    return;
  }
  let from = startOfStore;
  for (let last = 0; from !== end;) {
    last += chunkSize;
    const to = last < loaded ? places.of(last) : end;
    await fill.run(db, from, to);
    if (fill.covers !== 'every event') {
      const left = await readContinued(client, from, to, projection.handles);
      await applyAll([projection], db, left as readonly Recorded[]);
    }
    from = to;
  }
}

async function applyFrom(
  client: pg.PoolClient,
  db: ReadModels,
  projection: Projection,
): Promise<void> {
  let cursor = startOfStore;
  for (let size = batchSize; size === batchSize;) {
    const options = { types: projection.handles, limit: batchSize, unsettled: true };
    const events = (await readTypes(client, cursor, options)) as readonly Recorded[];
    await applyAll([projection], db, events);
    cursor = events.at(-1)?.position ?? cursor;
    size = events.length;
  }
}
