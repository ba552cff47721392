/** Applies events to the asynchronous projections, after the events were appended. Projections at the same position
 *  advance together in one transaction. */
import type { Recorded } from '#domain/aggregates.ts';
import type { Position, RecordedEvent } from '#domain/kernel/event.ts';
import {
  applyAll,
  fillOf,
  together,
  type Projection,
  type ReadModels,
} from '#projections/projection.ts';
import type pg from 'pg';
import { commit, inTransactionByKeys, queryBuilderOn } from '../database.ts';
import { nextChunk, readChunk, type Chunk } from '../event-store/event-chunks.ts';
import { lockCheckpoints, moveCheckpoints } from './checkpoints.ts';
import { readOn, type AtPlace, type Step } from './store-readers.ts';

const chunkSize = 1_000;

/** The events are loaded only if a projection needs them. */
type NextEvents = Chunk & { readonly events?: readonly RecordedEvent[] };

const nothing: Step = { seen: 0, isMore: false };

export class Projector {
  readonly #pool: pg.Pool;
  readonly #projections: readonly Projection[];

  constructor(pool: pg.Pool, projections: readonly Projection[]) {
    this.#pool = pool;
    this.#projections = projections;
  }

  /** Applies all new events to every projection.
   *  @returns the number of processed events, summed over the projections
   *  @throws the error of a projection, after the other projections have advanced as far as possible */
  async runOnce(signal: AbortSignal): Promise<number> {
    return await readOn(this.#pool, this.#projections, signal, (those, failed) =>
      this.#pass(those, failed),
    );
  }

  /**
   * Advances projections together. If a projection fails, all projections advance separately, so that the others can
   * continue.
   */
  async #pass(those: AtPlace<Projection>, failed: Map<Projection, unknown>): Promise<Step> {
    const { after, readers } = those;
    try {
      return await this.#apply(those);
    } catch (error) {
      const [first, ...others] = readers;
      if (others.length === 0) {
        if (first !== undefined) failed.set(first, error);
        return nothing;
      }
    }
    const steps: Step[] = [];
    for (const one of readers) steps.push(await this.#pass({ after, readers: [one] }, failed));
    return {
      seen: steps.reduce((sum, { seen }) => sum + seen, 0),
      isMore: steps.some(({ isMore }) => isMore),
    };
  }

  /** Reads the next events. Set-based projections process events inside the database, so their events are not
   *  fetched. */
  async #read(after: Position, those: readonly Projection[]): Promise<NextEvents | undefined> {
    const types = new Set(those.flatMap((one) => (isSetBased(one) ? [] : one.handles)));
    return types.size === 0
      ? await nextChunk(this.#pool, after, chunkSize)
      : await readChunk(this.#pool, after, [...types], chunkSize);
  }

  /** Rows and checkpoints change atomically. The checkpoint lock ensures that there is a single writer. */
  async #apply({ after, readers }: AtPlace<Projection>): Promise<Step> {
    const next = await this.#read(after, readers);
    if (next === undefined) return nothing;
    return await inTransactionByKeys(this.#pool, async (client) => {
      const held = await lockCheckpoints(client, readers, after);
      const names = held.map(({ name }) => name);
      const db = queryBuilderOn<never>(client) as unknown as ReadModels;
      await together(held.map((projection) => applyNext(db, projection, after, next)));
      if (held.length > 0) await moveCheckpoints(client, names, after, next.end);
      await commit(client);
      return { seen: next.seen * held.length, isMore: held.length > 0 && next.seen === chunkSize };
    });
  }
}

async function applyNext(
  db: ReadModels,
  projection: Projection,
  after: Position,
  { end, events = [] }: NextEvents,
): Promise<void> {
  if (isSetBased(projection)) await fillOf(projection)?.run(db, after, end);
  else await applyAll([projection], db, events as readonly Recorded[]);
}

function isSetBased(projection: Projection): boolean {
  return fillOf(projection)?.covers === 'every event';
}
