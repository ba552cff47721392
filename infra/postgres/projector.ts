/** Applies events to the asynchronous projections, behind the append. */
import type { Recorded } from '#domain/aggregates.ts';
import { applyAll, type Projection, type ReadModels } from '#projections/projection.ts';
import type pg from 'pg';
import { inTransaction, queryBuilderOn } from './database.ts';
import { lockCheckpoint, moveCheckpoint } from './checkpoints.ts';
import { readAll } from './event-store.ts';

const batchSize = 500;

export class Projector {
  readonly #pool: pg.Pool;
  readonly #projections: readonly Projection[];

  constructor(pool: pg.Pool, projections: readonly Projection[]) {
    this.#pool = pool;
    this.#projections = projections;
  }

  /** Catches every projection up with the events there are.
   *  @returns how many events were applied, summed over the projections */
  async runOnce(signal: AbortSignal): Promise<number> {
    let applied = 0;
    for (const projection of this.#projections) {
      for (let batch = batchSize; batch === batchSize && !signal.aborted;) {
        batch = await this.#applyBatch(projection);
        applied += batch;
      }
    }
    return applied;
  }

  /** Rows and checkpoint move together or not at all; the checkpoint's lock makes one writer. */
  async #applyBatch(projection: Projection): Promise<number> {
    return await inTransaction(this.#pool, async (client) => {
      const checkpoint = await lockCheckpoint(client, projection.name, projection.version);
      if (checkpoint === 'busy') return 0;
      const events = (await readAll(client, checkpoint, batchSize)) as readonly Recorded[];
      const last = events.at(-1);
      if (last === undefined) return 0;
      const db = queryBuilderOn<never>(client) as unknown as ReadModels;
      await applyAll([projection], db, events);
      if (!(await moveCheckpoint(client, projection.name, checkpoint, last.position))) {
        throw new Error(`the checkpoint of ${projection.name} moved while it was locked`);
      }
      return events.length;
    });
  }
}
