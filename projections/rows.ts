/** Projections whose rows are folds: one row a stream, each event a step. */
import { sql } from 'kysely';
import type { EventType, Recorded } from '#domain/aggregates.ts';
import type { Columns } from './columns.ts';
import type { Projection, ReadModels } from './projection.ts';
import type { Tables } from './tables.ts';

/** A row that knows the last event it has seen. */
export interface StreamRow {
  readonly stream_version: number;
}

export interface RowFold<Row extends StreamRow, Event extends Recorded> {
  readonly name: string;
  readonly version: number;
  readonly table: keyof Tables;
  readonly key: keyof Row & string;
  readonly columns: Columns<Row>;
  readonly handles: readonly EventType[];
  /** Columns of the table that are not in `columns`: others write them, and a rebuild keeps them. */
  readonly kept?: readonly string[];
  readonly keyOf: (event: Event) => string;
  /** The row after the event; `undefined` where there is to be none. `stream_version` is set by the
   *  caller. */
  readonly step: (row: Row | undefined, event: Event) => Omit<Row, 'stream_version'> | undefined;
}

/** Makes a projection of a fold: rows are loaded once, folded in memory and written as one statement
 *  a batch. */
export function rowProjection<Row extends StreamRow, Event extends Recorded>(
  fold: RowFold<Row, Event>,
): Projection {
  return {
    name: fold.name,
    version: fold.version,
    handles: fold.handles,
    tables: [fold.table],
    ...(fold.kept && { kept: fold.kept }),
    apply: (db, events) => applyFold(db, fold, events as readonly Event[]),
  };
}

async function applyFold<Row extends StreamRow, Event extends Recorded>(
  db: ReadModels,
  fold: RowFold<Row, Event>,
  events: readonly Event[],
): Promise<void> {
  const rows = await loadRows(db, fold, events);
  const gone = new Set<string>();
  const touched = new Set<string>();
  for (const event of events) {
    const key = fold.keyOf(event);
    const row = rows.get(key);
    if (row !== undefined && row.stream_version >= event.version) continue;
    const next = fold.step(row, event);
    if (next === undefined) {
      rows.delete(key);
      touched.delete(key);
      gone.add(key);
    } else {
      rows.set(key, { ...next, stream_version: event.version } as Row);
      touched.add(key);
      gone.delete(key);
    }
  }
  await upsertRows(
    db,
    fold,
    [...touched].toSorted().flatMap((key) => rows.get(key) ?? []),
  );
  if (gone.size > 0) await deleteRows(db, fold.table, fold.key, [...gone]);
}

async function loadRows<Row extends StreamRow, Event extends Recorded>(
  db: ReadModels,
  fold: RowFold<Row, Event>,
  events: readonly Event[],
): Promise<Map<string, Row>> {
  // A stream's first event finds no row, unless it is delivered again; the upsert settles that.
  const keys = [...new Set(events.filter((one) => one.version > 1).map(fold.keyOf))].toSorted();
  if (keys.length === 0) return new Map();
  const { rows } = await sql<Row>`
    SELECT ${sql.join(Object.keys(fold.columns).map((column) => sql.ref(column)))}
    FROM ${sql.table(fold.table)} WHERE ${sql.ref(fold.key)} = ANY(${keys}::uuid[])`.execute(db);
  return new Map(rows.map((row) => [String(row[fold.key]), row]));
}

/** Writes rows with one statement; a row that has seen more already stays as it is. */
export async function upsertRows<Row extends StreamRow>(
  db: ReadModels,
  into: {
    readonly table: keyof Tables;
    readonly key: keyof Row & string;
    readonly columns: Columns<Row>;
  },
  rows: readonly Row[],
): Promise<void> {
  if (rows.length === 0) return;
  const { table, key, columns } = into;
  const names = Object.keys(columns) as (keyof Row & string)[];
  const values = names.map((name) =>
    unnested(
      columns[name],
      rows.map((row) => row[name]),
    ),
  );
  const others = names.filter((name) => name !== key);
  await sql`
    INSERT INTO ${sql.table(table)} (${sql.join(names.map((name) => sql.ref(name)))})
    SELECT * FROM unnest(${sql.join(values)})
    ON CONFLICT (${sql.ref(key)}) DO UPDATE
    SET ${sql.join(others.map((name) => sql`${sql.ref(name)} = ${sql.ref(`excluded.${name}`)}`))}
    WHERE ${sql.ref(`${table}.stream_version`)} < ${sql.ref('excluded.stream_version')}`.execute(
    db,
  );
}

/** One column of many rows as one array parameter. JSON travels as text: the driver would take a
 *  nested array for a dimension of its own. */
export function unnested(type: string, values: readonly unknown[]) {
  return type === 'jsonb'
    ? sql`${values.map((value) => (value === null ? null : JSON.stringify(value)))}::text[]::jsonb[]`
    : sql`${values}::${sql.raw(type)}[]`;
}

async function deleteRows(
  db: ReadModels,
  table: keyof Tables,
  key: string,
  keys: readonly string[],
): Promise<void> {
  await sql`DELETE FROM ${sql.table(table)}
    WHERE ${sql.ref(key)} = ANY(${keys.toSorted()}::uuid[])`.execute(db);
}
