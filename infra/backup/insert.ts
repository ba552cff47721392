/** Inserts the rows of a backup into an empty database, inside the caller's transaction. */
import type { Queryable } from '#infra/postgres/database.ts';
import { setCheckpoint } from '#infra/postgres/readers/checkpoints.ts';
import type { Projection } from '#projections/projection.ts';
import type { Places } from './places.ts';
import { damaged } from './damaged.ts';
import type { Manifest, WrappedKey } from './format.ts';

const statements = {
  events: `INSERT INTO events (global_position, transaction_id, stream_id, version, event_id, type, schema_version, data, metadata, recorded_at)
    OVERRIDING SYSTEM VALUE
    SELECT $2 + ordinal, (1 + ($2 + ordinal - 1) / $3)::text::xid8, r.stream_id, r.version, r.event_id, r.type, r.schema_version, r.data, r.metadata, r.recorded_at
    FROM jsonb_array_elements($1::jsonb) WITH ORDINALITY AS line (value, ordinal),
      LATERAL jsonb_populate_record(NULL::events, value) r`,
  streams: `INSERT INTO streams (stream_id, stream_type, version)
    SELECT stream_id, split_part(stream_id, '-', 1), max(version) FROM events GROUP BY stream_id`,
  sequence: `SELECT setval('events_global_position_seq', greatest(1, (SELECT count(*) FROM events)),
    EXISTS (SELECT FROM events))`,
  keys: `INSERT INTO data_keys (key_id, script_id, master_key_id, wrapped_key, created_at)
    SELECT key_id, script_id, master_key_id, decode(wrapped_key, 'base64'), created_at
    FROM jsonb_to_recordset($1::jsonb) AS given (key_id uuid, script_id uuid, master_key_id text,
      wrapped_key text, created_at timestamptz)
    WHERE key_id NOT IN (SELECT key_id FROM destroyed_keys)`,
  destroyed: `INSERT INTO destroyed_keys (key_id) SELECT unnest($1::uuid[]) ON CONFLICT DO NOTHING`,
};

/** @param after the number of events inserted so far
 *  @returns the number of events that this call inserted */
export async function insertEvents(
  db: Queryable,
  lines: readonly string[],
  after: number,
  { share }: Places,
): Promise<number> {
  await db.query(statements.events, [arrayOf(lines), after, share]);
  return lines.length;
}

/** Inserts the heads of the streams, and sets the next global position. */
export async function insertStreams(db: Queryable): Promise<void> {
  await db.query(statements.streams);
  await db.query(statements.sequence);
  await db.query('ANALYZE events');
}

/** @throws DamagedBackup if the name of the table or of a column is invalid, or no columns are given */
export async function insertRows(
  db: Queryable,
  table: string,
  columns: readonly string[],
  lines: readonly string[],
): Promise<void> {
  const isName = (text: string) => /^[a-z_][a-z0-9_]*$/.test(text);
  if (!isName(table) || columns.length === 0 || !columns.every(isName)) {
    throw damaged(`tables/${table}`, 'its table or column names are invalid');
  }
  const names = columns.join(', ');
  await db.query(
    `INSERT INTO ${table} (${names})
     SELECT ${names} FROM jsonb_populate_recordset(NULL::${table}, $1::jsonb)`,
    [arrayOf(lines)],
  );
}

/** @param destroyed IDs of keys that this installation destroyed after the backup was created */
export async function insertKeys(
  db: Queryable,
  keys: readonly WrappedKey[],
  destroyed: readonly string[],
): Promise<void> {
  await db.query(statements.destroyed, [destroyed]);
  await db.query(statements.keys, [JSON.stringify(keys)]);
}

/** Restores the readers' checkpoints. Read models start at the position that their rebuild reached.
 *  @param projections the projections that have a checkpoint */
export async function placeReaders(
  db: Queryable,
  readers: Manifest['readers'],
  projections: readonly Projection[],
  places: Places,
): Promise<void> {
  const projected = new Set(projections.map(({ name }) => name));
  for (const { name, version, seen } of readers) {
    if (projected.has(name)) continue;
    await setCheckpoint(db, name, version, places.of(seen));
  }
}

function arrayOf(lines: readonly string[]): string {
  return `[${lines.join(',')}]`;
}
