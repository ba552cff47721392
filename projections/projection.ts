/** What a projection is: events in, rows out. */
import type { Kysely } from 'kysely';
import type { EventType, Recorded } from '#domain/aggregates.ts';
import type { Tables } from './tables.ts';

/** The query builder over every read model, on a pool or inside one transaction. */
export type ReadModels = Kysely<Tables>;

export interface Projection {
  /** Permanent; the checkpoint of an asynchronous projection goes by it. */
  readonly name: string;
  /** Raised when the rows of old events would look different: the projection is then rebuilt. */
  readonly version: number;
  /** Event types it looks at; others never reach it. */
  readonly handles: readonly EventType[];
  /** Applies events in the order of the store. The same event again changes nothing. */
  apply(db: ReadModels, events: readonly Recorded[]): Promise<void>;
  /** Tables that it alone writes, to be emptied before a rebuild. */
  readonly tables: readonly (keyof Tables)[];
}

/** Applies to each projection the events that it handles. They go side by side: no two write the same
 *  table. */
export async function applyAll(
  projections: readonly Projection[],
  db: ReadModels,
  events: readonly Recorded[],
): Promise<void> {
  const applied = projections.map(async (projection) => {
    const handled = events.filter((event) => projection.handles.includes(event.type));
    if (handled.length > 0) await projection.apply(db, handled);
  });
  // Also when one fails: nothing of the others may reach the connection after its rollback.
  await Promise.allSettled(applied);
  await Promise.all(applied);
}
