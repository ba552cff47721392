/** Applies events to the asynchronous projections, behind the append. */
import type { Recorded } from '#domain/aggregates.ts';
import type { Position } from '#domain/kernel/event.ts';
import { applyAll, fillOf, type Projection, type ReadModels } from '#projections/projection.ts';
import type pg from 'pg';
import { commit, inTransactionByKeys, queryBuilderOn } from './database.ts';
import { lockCheckpoint, moveCheckpoints } from './checkpoints.ts';
import { nextChunk, readChunk, type Chunk } from './event-chunks.ts';

const chunkSize = 1_000;

export class Projector {
  readonly #pool: pg.Pool;
  readonly #projections: readonly Projection[];

  constructor(pool: pg.Pool, projections: readonly Projection[]) {
    this.#pool = pool;
    this.#projections = projections;
  }

  /** Catches every projection up with the events there are.
   *  @returns how many events were looked at, summed over the projections */
  async runOnce(signal: AbortSignal): Promise<number> {
    let passed = 0;
    for (const projection of this.#projections) {
      for (let seen = chunkSize; seen === chunkSize && !signal.aborted;) {
        seen = await this.#applyChunk(projection);
        passed += seen;
      }
    }
    return passed;
  }

  /** Rows and checkpoint move together or not at all; the checkpoint's lock makes one writer. */
  async #applyChunk(projection: Projection): Promise<number> {
    return await inTransactionByKeys(this.#pool, async (client) => {
      const seen = await passChunk(client, projection);
      await commit(client);
      return seen;
    });
  }
}

/** @returns how many events were looked at */
async function passChunk(client: pg.PoolClient, projection: Projection): Promise<number> {
  const checkpoint = await lockCheckpoint(client, projection.name, projection.version);
  if (checkpoint === 'busy') return 0;
  const chunk = await applyNext(client, projection, checkpoint);
  if (chunk === undefined) return 0;
  const moved = await moveCheckpoints(client, [projection.name], checkpoint, chunk.end);
  if (!moved.has(projection.name)) {
    throw new Error(`the checkpoint of ${projection.name} moved while it was locked`);
  }
  return chunk.seen;
}

/** Set-based, where the projection can do so: the events then never leave the database.
 *  @returns what was applied; `undefined` where nothing was left */
async function applyNext(
  client: pg.PoolClient,
  projection: Projection,
  after: Position,
): Promise<Chunk | undefined> {
  const db = queryBuilderOn<never>(client) as unknown as ReadModels;
  const fill = fillOf(projection);
  if (fill?.covers === 'every event') {
    const chunk = await nextChunk(client, after, chunkSize);
    if (chunk !== undefined) await fill.run(db, after, chunk.end);
    return chunk;
  }
  const chunk = await readChunk(client, after, projection.handles, chunkSize);
  if (chunk !== undefined) await applyAll([projection], db, chunk.events as readonly Recorded[]);
  return chunk;
}
