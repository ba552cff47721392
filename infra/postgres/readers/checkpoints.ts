/** Stores the checkpoints of the readers of the event store. */
import { startOfStore, type Position } from '#domain/kernel/event.ts';
import type { Queryable } from '../database.ts';

const statements = {
  make: `INSERT INTO checkpoints (name, version, transaction_id, global_position)
    VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING`,
  lock: `SELECT name, version, transaction_id, global_position FROM checkpoints
    WHERE name = ANY($1) FOR UPDATE SKIP LOCKED`,
  hold: `SELECT version, transaction_id, global_position FROM checkpoints
    WHERE name = $1 FOR UPDATE`,
  read: `SELECT name, version, transaction_id, global_position FROM checkpoints WHERE name = ANY($1)`,
  move: `UPDATE checkpoints
    SET transaction_id = $4, global_position = $5, updated_at = now()
    WHERE name = ANY($1) AND transaction_id = $2 AND global_position = $3 RETURNING name`,
  set: `INSERT INTO checkpoints (name, version, transaction_id, global_position)
    VALUES ($1, $2, $3, $4)
    ON CONFLICT (name) DO UPDATE SET version = excluded.version, updated_at = now(),
      transaction_id = excluded.transaction_id, global_position = excluded.global_position`,
  remove: `DELETE FROM checkpoints WHERE name = $1`,
  list: `SELECT name, version, transaction_id, global_position,
      (SELECT count(*)::int FROM (SELECT 1 FROM events e
        WHERE (e.transaction_id, e.global_position) > (c.transaction_id, c.global_position)
        LIMIT 10000) behind) AS lag
    FROM checkpoints c ORDER BY name`,
};

interface CheckpointRow {
  readonly name: string;
  readonly version: number;
  readonly transaction_id: string;
  readonly global_position: number;
}

/** A reader of the event store, identified by its name. */
export interface Reader {
  readonly name: string;
  /** The version of the rows that the reader writes. Default: 1. */
  readonly version?: number;
}

/** Locks the readers' checkpoints until the transaction ends.
 *  @returns the readers whose checkpoint is at `at` and was not locked by another transaction
 *  @throws Error if a reader's rows have a different version */
export async function lockCheckpoints<Some extends Reader>(
  db: Queryable,
  readers: readonly Some[],
  at: Position,
): Promise<readonly Some[]> {
  const names = readers.map(({ name }) => name);
  const { rows } = await db.query<CheckpointRow>(statements.lock, [names]);
  const found = new Map(rows.map((row) => [row.name, row]));
  return readers.filter(({ name, version = 1 }) => {
    const row = found.get(name);
    if (row !== undefined && row.version !== version) {
      throw new Error(`${name} has rows of version ${row.version}, not ${version}: rebuild it`);
    }
    return row !== undefined && isSamePlace(positionOf(row), at);
  });
}

/** Returns the reader's position, regardless of the version of its rows. Waits if another transaction has locked the
 *  checkpoint, then locks the checkpoint until the transaction ends. */
export async function holdCheckpoint(db: Queryable, name: string): Promise<Position> {
  const { rows } = await db.query<CheckpointRow>(statements.hold, [name]);
  const [row] = rows;
  return row === undefined ? startOfStore : positionOf(row);
}

/** Returns the reader's position without locking the checkpoint. */
export async function readCheckpoint(db: Queryable, name: string): Promise<Position> {
  return (await readCheckpoints(db, [name])).get(name) ?? startOfStore;
}

/** Reads the readers' checkpoints without locking them. Readers without a checkpoint are omitted. */
export async function readCheckpoints(
  db: Queryable,
  names: readonly string[],
): Promise<ReadonlyMap<string, Position>> {
  const { rows } = await db.query<CheckpointRow>(statements.read, [names]);
  return new Map(rows.map((row) => [row.name, positionOf(row)]));
}

/** Moves the readers' checkpoints from `from`.
 *  @returns the names of the readers whose checkpoint was still at `from` */
export async function moveCheckpoints(
  db: Queryable,
  names: readonly string[],
  from: Position,
  to: Position,
): Promise<ReadonlySet<string>> {
  const { rows } = await db.query<{ name: string }>(statements.move, [
    names,
    from.transactionId.toString(),
    from.globalPosition,
    to.transactionId.toString(),
    to.globalPosition,
  ]);
  return new Set(rows.map(({ name }) => name));
}

/** Sets the checkpoint and version of rebuilt rows. */
export async function setCheckpoint(
  db: Queryable,
  name: string,
  version: number,
  { transactionId, globalPosition }: Position,
): Promise<void> {
  await db.query(statements.set, [name, version, transactionId.toString(), globalPosition]);
}

/** Creates the checkpoint of a new reader if it does not exist. */
export async function makeCheckpoint(
  db: Queryable,
  name: string,
  version: number,
  { transactionId, globalPosition }: Position = startOfStore,
): Promise<void> {
  await db.query(statements.make, [name, version, transactionId.toString(), globalPosition]);
}

/** Removes a deleted reader's checkpoint. */
export async function removeCheckpoint(db: Queryable, name: string): Promise<void> {
  await db.query(statements.remove, [name]);
}

/** Returns every reader with its position and its number of unread events, which is counted up to 10,000. */
export async function listCheckpoints(
  db: Queryable,
): Promise<readonly { name: string; version: number; position: number; lag: number }[]> {
  const { rows } = await db.query<CheckpointRow & { lag: number }>(statements.list, []);
  return rows.map(({ name, version, global_position: position, lag }) => ({
    name,
    version,
    position,
    lag,
  }));
}

/** Whether two positions are equal. */
export function isSamePlace(one: Position, other: Position): boolean {
  return one.transactionId === other.transactionId && one.globalPosition === other.globalPosition;
}

function positionOf(row: CheckpointRow): Position {
  return { transactionId: BigInt(row.transaction_id), globalPosition: row.global_position };
}
