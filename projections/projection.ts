/** The interface of projections, which turn events into rows. */
import { sql, type Kysely } from 'kysely';
import type { EventType, Recorded } from '#domain/aggregates.ts';
import type { Position, StreamId } from '#domain/kernel/event.ts';
import { schemaVersionOf } from '#domain/upcasts.ts';
import type { Tables } from './tables.ts';

/** The query builder for all read models. It uses either a connection pool or one transaction. */
export type ReadModels = Kysely<Tables>;

export interface Projection {
  /** The name is permanent, because it identifies the checkpoint of an asynchronous projection. */
  readonly name: string;
  /** Increment this version when existing events result in different rows. The projection is then rebuilt. */
  readonly version: number;
  /** The event types that the projection handles. The projection receives no other events. */
  readonly handles: readonly EventType[];
  /** Applies events in the order of the store. Applying events again has no effect. */
  apply(db: ReadModels, events: readonly Recorded[]): Promise<void>;
  /** Returns what `apply` would write for new events before they are recorded, or `undefined` if `apply` must read
   *  rows first. Available only if each row depends only on the events of its stream. The positions of the new
   *  events are not known yet.
   *  @param past returns the earlier events of a stream, if all of them are in memory */
  readonly writes?: (events: readonly Recorded[], past: Past) => readonly Write[] | undefined;
  /** Tables that only this projection writes, except for the columns in `kept`. A rebuild recreates these tables. */
  readonly tables: readonly (keyof Tables)[];
  /** Columns of these tables that other code writes. A rebuild preserves these columns. */
  readonly kept?: readonly string[];
  readonly fill?: Fill;
  /** Returns the row that results from the events of one stream. Available only if the row depends on no other data. */
  readonly rowAfter?: (events: readonly Recorded[]) => object | undefined;
}

export type Past = (streamId: StreamId) => readonly Recorded[] | undefined;

/** A statement with fixed SQL text. Arrays are encoded as text, so that every driver can send the values. */
export interface Write {
  readonly text: string;
  readonly values: readonly string[];
}

/** The SQL equivalent of `apply`. It reads stored events and is much faster than `apply`. */
export interface Fill {
  /** Whether the SQL handles all events, or only events of streams that begin in the range. `apply` then handles the
   *  other events. */
  readonly covers: 'every event' | 'streams that begin';
  /** Whether the SQL can read events of all schema versions. If absent, the SQL is used only while all handled
   *  events have version 1. */
  readonly takes?: 'every shape';
  /** Adds the events after `from` and up to and including `to`. The tables must not contain any of these events. */
  readonly run: (db: ReadModels, from: Position, to: Position) => Promise<void>;
}

/** Returns the SQL equivalent of a projection, or `undefined` if none exists that can be used. */
export function fillOf({ fill, handles }: Projection): Fill | undefined {
  if (fill?.takes === 'every shape') return fill;
  return handles.some((type) => schemaVersionOf(type) > 1) ? undefined : fill;
}

/** Returns an SQL condition on `events` that selects the events after `from` up to and including `to`. */
export function between(from: Position, to: Position) {
  const place = ({ transactionId, globalPosition }: Position) =>
    sql`(${transactionId.toString()}::xid8, ${globalPosition}::bigint)`;
  return sql`(transaction_id, global_position) > ${place(from)}
    AND (transaction_id, global_position) <= ${place(to)}`;
}

/** Applies events to the projections that handle them. Projections run concurrently, because no two projections
 *  write to the same table. */
export async function applyAll(
  projections: readonly Projection[],
  db: ReadModels,
  events: readonly Recorded[],
): Promise<void> {
  const applied = projections.map(async (projection) => {
    const handled = events.filter((event) => projection.handles.includes(event.type));
    if (handled.length > 0) await projection.apply(db, handled);
  });
  await together(applied);
}

/** Returns the rows that `applyAll` would write, or `undefined` if a projection must read rows first. */
export function writesOf(
  projections: readonly Projection[],
  events: readonly Recorded[],
  past: Past,
): readonly Write[] | undefined {
  const writes: Write[] = [];
  for (const projection of projections) {
    const handled = events.filter((event) => projection.handles.includes(event.type));
    if (handled.length === 0) continue;
    const own = projection.writes?.(handled, past);
    if (own === undefined) return undefined;
    writes.push(...own);
  }
  return writes;
}

/** Waits for all tasks of one transaction, even if one of them fails. Otherwise, a statement could reach the
 *  connection after the rollback.
 *  @throws the error that aborted the transaction, not an error that resulted from the abort */
export async function together<Tasks extends readonly unknown[]>(
  tasks: readonly [...Tasks],
): Promise<{ -readonly [Index in keyof Tasks]: Awaited<Tasks[Index]> }> {
  const settled: readonly PromiseSettledResult<unknown>[] = await Promise.allSettled(tasks);
  const cause = settled.find((one) => one.status === 'rejected' && !isEcho(one.reason));
  if (cause?.status === 'rejected') throw cause.reason;
  return await Promise.all(tasks);
}

/** Whether an error only results from an earlier error. After a failed statement, Postgres refuses all other
 *  statements of the transaction. */
function isEcho(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === '25P02';
}
