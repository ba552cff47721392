/** A projection turns events into rows. */
import { sql, type Kysely } from 'kysely';
import type { EventType, Recorded } from '#domain/aggregates.ts';
import type { Position, StreamId } from '#domain/kernel/event.ts';
import { schemaVersionOf } from '#domain/upcasts.ts';
import type { Tables } from './tables.ts';

/** The query builder over every read model, on a pool or inside one transaction. */
export type ReadModels = Kysely<Tables>;

export interface Projection {
  /** The name is permanent, because it identifies the checkpoint of an asynchronous projection. */
  readonly name: string;
  /** Increment the version when the rows of old events change. The projection is then rebuilt. */
  readonly version: number;
  /** The event types that the projection handles. It receives no other events. */
  readonly handles: readonly EventType[];
  /** Applies events in the order of the store; idempotent. */
  apply(db: ReadModels, events: readonly Recorded[]): Promise<void>;
  /** Computes what `apply` would write for events that are being recorded, if the rows depend on the events of
   *  their streams only; `undefined` if `apply` has to read rows. Positions are not known yet.
   *  @param past the earlier events of a stream, if all of them are in memory */
  readonly writes?: (events: readonly Recorded[], past: Past) => readonly Write[] | undefined;
  /** Tables that only this projection writes, except for the columns in `kept`. A rebuild recreates them. */
  readonly tables: readonly (keyof Tables)[];
  /** Columns of the projection's tables that other code writes. A rebuild preserves these columns. */
  readonly kept?: readonly string[];
  readonly fill?: Fill;
  /** The row that these events of one stream produce, if rows depend on nothing else. */
  readonly rowAfter?: (events: readonly Recorded[]) => object | undefined;
}

export type Past = (streamId: StreamId) => readonly Recorded[] | undefined;

/** A statement with fixed text. Every driver can send its values: arrays are encoded as text. */
export interface Write {
  readonly text: string;
  readonly values: readonly string[];
}

/** The SQL equivalent of `apply`, much faster. It reads stored events. */
export interface Fill {
  /** Whether the SQL replaces `apply` completely, or leaves events of earlier streams to `apply`. */
  readonly covers: 'every event' | 'streams that begin';
  /** Whether the SQL reads events of all schema versions. Absent: the SQL is used only while all handled events have
   *  version 1. */
  readonly takes?: 'every shape';
  /** Adds the events after `from` and up to `to` to tables that contain none of these events. */
  readonly run: (db: ReadModels, from: Position, to: Position) => Promise<void>;
}

/** The SQL equivalent of a projection, if it has one. */
export function fillOf({ fill, handles }: Projection): Fill | undefined {
  if (fill?.takes === 'every shape') return fill;
  return handles.some((type) => schemaVersionOf(type) > 1) ? undefined : fill;
}

/** The condition on `events` for the events after `from` up to `to`. */
export function between(from: Position, to: Position) {
  const place = ({ transactionId, globalPosition }: Position) =>
    sql`(${transactionId.toString()}::xid8, ${globalPosition}::bigint)`;
  return sql`(transaction_id, global_position) > ${place(from)}
    AND (transaction_id, global_position) <= ${place(to)}`;
}

/** Applies to each projection the events that it handles. Projections run concurrently: no two write the same
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
  await together(applied);
}

/** The rows that `applyAll` would write; `undefined` if a projection has to read rows. */
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

/** Waits for all of `tasks`, which share one transaction, even if one fails: no later statement may reach the
 *  connection after its rollback.
 *  @throws the error that aborted the transaction, not the errors that follow from it */
export async function together<Tasks extends readonly unknown[]>(
  tasks: readonly [...Tasks],
): Promise<{ -readonly [Index in keyof Tasks]: Awaited<Tasks[Index]> }> {
  const settled: readonly PromiseSettledResult<unknown>[] = await Promise.allSettled(tasks);
  const cause = settled.find((one) => one.status === 'rejected' && !isEcho(one.reason));
  if (cause?.status === 'rejected') throw cause.reason;
  return await Promise.all(tasks);
}

/** Whether the error only follows from an earlier error: after a failed statement, Postgres refuses every other
 *  statement of the transaction. */
function isEcho(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === '25P02';
}
