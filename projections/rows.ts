/** Creates projections whose rows are folds of events. A fold has one row per stream and one step per event. */
import { sql } from 'kysely';
import type { EventType, Recorded } from '#domain/aggregates.ts';
import type { Columns } from './columns.ts';
import type { Past, Projection, ReadModels, Write } from './projection.ts';
import { statement, write } from './statement.ts';
import type { Tables } from './tables.ts';

/** A row that contains the version of the last applied event. */
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
  /** Columns of the table that other code writes. A rebuild preserves these columns. They are not in `columns`. */
  readonly kept?: readonly string[];
  readonly keyOf: (event: Event) => string;
  /** Returns the row after the event. `undefined` deletes the row. The caller sets `stream_version`. */
  readonly step: (row: Row | undefined, event: Event) => Omit<Row, 'stream_version'> | undefined;
}

/** Creates a projection from a fold. For each batch, the projection loads the rows once, folds the events in memory,
 *  and writes the rows with one statement. */
export function rowProjection<Row extends StreamRow, Event extends Recorded>(
  fold: RowFold<Row, Event>,
): Projection {
  const statements = statementsOf(fold);
  return {
    name: fold.name,
    version: fold.version,
    handles: fold.handles,
    tables: [fold.table],
    ...(fold.kept && { kept: fold.kept }),
    apply: (db, events) => applyFold(db, fold, statements, events as readonly Event[]),
    writes: (events, past) => writesOf(fold, statements, events as readonly Event[], past),
    rowAfter: (events) => rowAfter(fold, events as readonly Event[]),
  };
}

function rowAfter<Row extends StreamRow, Event extends Recorded>(
  { handles, step }: RowFold<Row, Event>,
  events: readonly Event[],
): Row | undefined {
  let row: Row | undefined;
  for (const event of events) {
    if (!handles.includes(event.type)) continue;
    const next = step(row, event);
    row = next && ({ ...next, stream_version: event.version } as Row);
  }
  return row;
}

type Statements<Row extends StreamRow> = ReturnType<typeof statementsOf<Row, Recorded>>;

/** Builds the statements once, because every command has to wait for them. */
function statementsOf<Row extends StreamRow, Event extends Recorded>({
  table,
  key,
  columns,
}: RowFold<Row, Event>) {
  const names = Object.keys(columns) as (keyof Row & string)[];
  const values = names.map((name, index) => `$${index + 1}::${columns[name]}[]`);
  const changes = names.filter((name) => name !== key).map((name) => `${name} = excluded.${name}`);
  return {
    load: statement<Row>(`SELECT ${names.join(', ')} FROM ${table} WHERE ${key} = ANY($1::uuid[])`),
    // If the stored row has a later version, the row is not changed.
    upsert: `INSERT INTO ${table} (${names.join(', ')}) SELECT * FROM unnest(${values.join(', ')})
      ON CONFLICT (${key}) DO UPDATE SET ${changes.join(', ')}
      WHERE ${table}.stream_version < excluded.stream_version`,
    // A row that was deleted is not created again.
    update: `UPDATE ${table} SET ${changes.join(', ')}
      FROM unnest(${values.join(', ')}) AS excluded (${names.join(', ')})
      WHERE ${table}.${key} = excluded.${key} AND ${table}.stream_version < excluded.stream_version`,
    remove: `DELETE FROM ${table} WHERE ${key} = ANY($1::uuid[])`,
  };
}

/** The rows that result from events, and the keys of deleted rows. */
interface Folded<Row> {
  readonly written: readonly Row[];
  readonly gone: readonly string[];
}

/** Folds events into rows. @param rows the previous rows by key, which are updated in place */
function foldInto<Row extends StreamRow, Event extends Recorded>(
  { keyOf, step }: RowFold<Row, Event>,
  rows: Map<string, Row>,
  events: readonly Event[],
): Folded<Row> {
  const there = new Set(rows.keys());
  const gone = new Set<string>();
  const touched = new Set<string>();
  for (const event of events) {
    const id = keyOf(event);
    const row = rows.get(id);
    if (row !== undefined && row.stream_version >= event.version) continue;
    const next = step(row, event);
    if (next === undefined) {
      rows.delete(id);
      touched.delete(id);
      gone.add(id);
    } else {
      rows.set(id, { ...next, stream_version: event.version } as Row);
      touched.add(id);
      gone.delete(id);
    }
  }
  return {
    // Existing rows are written in a fixed order, because other writers may also lock them. New rows are written in the
    // order of the events, because the database may assign their numbers.
    written: [
      ...[...touched].filter((id) => there.has(id)).toSorted(),
      ...[...touched].filter((id) => !there.has(id)),
    ].flatMap((id) => rows.get(id) ?? []),
    gone: [...gone].toSorted(),
  };
}

async function applyFold<Row extends StreamRow, Event extends Recorded>(
  db: ReadModels,
  fold: RowFold<Row, Event>,
  statements: Statements<Row>,
  events: readonly Event[],
): Promise<void> {
  const rows = await loadRows(db, fold, statements, events);
  const { written, gone } = foldInto(fold, rows, events);
  await write(db, [
    ...(written.length > 0 ? [rowsBy(statements.upsert, fold, written)] : []),
    ...(gone.length > 0 ? [removal(statements, gone)] : []),
  ]);
}

/** Computes the rows without loading them, because a row derives only from the events of its stream. Returns
 *  `undefined` if some of the events are not in memory. */
function writesOf<Row extends StreamRow, Event extends Recorded>(
  fold: RowFold<Row, Event>,
  statements: Statements<Row>,
  events: readonly Event[],
  past: Past,
): readonly Write[] | undefined {
  const rows = new Map<string, Row>();
  const known = new Set<string>();
  for (const event of events) {
    const id = fold.keyOf(event);
    if (known.has(id)) continue;
    known.add(id);
    const before = past(event.streamId);
    if (before === undefined) return undefined;
    // The events of one stream may produce several rows.
    const own = (before as readonly Event[]).filter(
      (one) => fold.handles.includes(one.type) && fold.keyOf(one) === id,
    );
    const row = rowAfter(fold, own);
    if (row !== undefined) rows.set(id, row);
  }
  const there = new Set(rows.keys());
  const { written, gone } = foldInto(fold, rows, events);
  const isThere = (row: Row) => there.has(String(row[fold.key]));
  const changed = written.filter(isThere);
  const made = written.filter((row) => !isThere(row));
  return [
    ...(made.length > 0 ? [rowsBy(statements.upsert, fold, made)] : []),
    ...(changed.length > 0 ? [rowsBy(statements.update, fold, changed)] : []),
    ...(gone.length > 0 ? [removal(statements, gone)] : []),
  ];
}

function rowsBy<Row extends StreamRow, Event extends Recorded>(
  text: string,
  { columns }: RowFold<Row, Event>,
  rows: readonly Row[],
): Write {
  return { text, values: columnsOf(columns, rows) };
}

function removal({ remove: text }: { readonly remove: string }, keys: readonly string[]): Write {
  return { text, values: [arrayLiteral(keys)] };
}

async function loadRows<Row extends StreamRow, Event extends Recorded>(
  db: ReadModels,
  fold: RowFold<Row, Event>,
  statements: Statements<Row>,
  events: readonly Event[],
): Promise<Map<string, Row>> {
  // The first event of a stream finds no row, unless the event was delivered before. The upsert handles repeated
  // delivery.
  const keys = [...new Set(events.filter((one) => one.version > 1).map(fold.keyOf))].toSorted();
  if (keys.length === 0) return new Map();
  const rows = await statements.load(db, keys);
  return new Map(rows.map((row) => [String(row[fold.key]), row]));
}

/** Returns each column of the rows as an array. */
function columnsOf<Row>(columns: Columns<Row>, rows: readonly Row[]): readonly string[] {
  return (Object.keys(columns) as (keyof Row & string)[]).map((name) =>
    arrayLiteral(rows.map((row) => (columns[name] === 'jsonb' ? asJson(row[name]) : row[name]))),
  );
}

/** Passes one column of many rows as a single array parameter. */
export function unnested(type: string, values: readonly unknown[]) {
  const literal = arrayLiteral(type === 'jsonb' ? values.map(asJson) : values);
  return sql`${literal}::${sql.raw(type)}[]`;
}

function asJson(value: unknown): string | null {
  return value === null ? null : JSON.stringify(value);
}

/** Encodes an array as a Postgres array literal. JSON is passed as text. The driver's own encoding is slow, because
 *  it inspects each value. It would also treat a nested array as another dimension. */
export function arrayLiteral(values: readonly unknown[]): string {
  return `{${values.map(elementOf).join(',')}}`;
}

function elementOf(value: unknown): string {
  if (value === null || value === undefined) return 'NULL';
  if (value instanceof Date) return `"${value.toISOString()}"`;
  if (typeof value !== 'string') return JSON.stringify(value);
  return `"${/["\\]/.test(value) ? value.replaceAll(/["\\]/g, '\\$&') : value}"`;
}
