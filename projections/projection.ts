/** What a projection is: events in, rows out. */
import { sql, type Kysely } from 'kysely';
import type { EventType, Recorded } from '#domain/aggregates.ts';
import type { Position, StreamId } from '#domain/kernel/event.ts';
import { schemaVersionOf } from '#domain/upcasts.ts';
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
  /** What `apply` would write for events that are just being recorded, as far as that follows from the events
   *  of their streams alone; `undefined` where rows have to be asked. Positions are not known yet.
   *  @param past the events of a stream before these, where all of them are at hand */
  readonly writes?: (events: readonly Recorded[], past: Past) => readonly Write[] | undefined;
  /** Tables that it alone writes, but for the columns in `kept`. A rebuild makes them anew. */
  readonly tables: readonly (keyof Tables)[];
  /** Columns of its tables that others write: a rebuild takes them over. */
  readonly kept?: readonly string[];
  readonly fill?: Fill;
  /** The row that these events of one stream leave, where rows are made of nothing else. */
  readonly rowAfter?: (events: readonly Recorded[]) => object | undefined;
}

export type Past = (streamId: StreamId) => readonly Recorded[] | undefined;

/** A statement of fixed text. Its values are such as every driver can send: arrays are spelt out. */
export interface Write {
  readonly text: string;
  readonly values: readonly string[];
}

/** What `apply` does, said in SQL and much quicker. It reads events as they are stored. */
export interface Fill {
  /** Whether it does all there is to do, or leaves to `apply` the events of streams that began before. */
  readonly covers: 'every event' | 'streams that begin';
  /** It can take events of all schema versions. Absent: it is used as long as all that the projection
   *  handles are of the first one. */
  readonly takes?: 'every shape';
  /** Takes the events after `from` up to `to` into tables that have nothing of them yet. */
  readonly run: (db: ReadModels, from: Position, to: Position) => Promise<void>;
}

/** The set-based way of a projection, as far as there is one. */
export function fillOf({ fill, handles }: Projection): Fill | undefined {
  if (fill?.takes === 'every shape') return fill;
  return handles.some((type) => schemaVersionOf(type) > 1) ? undefined : fill;
}

/** The events after `from` up to `to`, for the condition of a statement on `events`. */
export function between(from: Position, to: Position) {
  const place = ({ transactionId, globalPosition }: Position) =>
    sql`(${transactionId.toString()}::xid8, ${globalPosition}::bigint)`;
  return sql`(transaction_id, global_position) > ${place(from)}
    AND (transaction_id, global_position) <= ${place(to)}`;
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
  await together(applied);
}

/** What `applyAll` would write, where no projection has to ask for anything. */
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

/** Waits for all of `tasks`, which share one transaction, also when one fails: nothing of theirs may
 *  reach the connection after its rollback.
 *  @throws the error that ended the transaction, and not what the others were told then */
export async function together<Tasks extends readonly unknown[]>(
  tasks: readonly [...Tasks],
): Promise<{ -readonly [Index in keyof Tasks]: Awaited<Tasks[Index]> }> {
  const settled: readonly PromiseSettledResult<unknown>[] = await Promise.allSettled(tasks);
  const cause = settled.find((one) => one.status === 'rejected' && !isEcho(one.reason));
  if (cause?.status === 'rejected') throw cause.reason;
  return await Promise.all(tasks);
}

/** Postgres refuses whatever comes after the statement that failed. */
function isEcho(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === '25P02';
}
